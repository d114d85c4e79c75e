/** A release as the runtime sees it: its model, and the pipelines that run on it. */
import type { InstalledModel } from '../models/registry.ts';
import type { ServedPipeline } from './messages.ts';

export interface RunnableRelease {
  /** `<model>@<release date>` */
  version: string;
  /** Changes with anything in `model.json` or its files, and in those of the models that it uses. */
  identity: string;
  model: InstalledModel;
  pipelines: readonly ServedPipeline[];
}

/** Two, so that one picture is decoded while another is computed; or as many as make the largest batch. */
export function tasksAtOnce(model: InstalledModel): number {
  const own = Object.values(model.manifest.files).map(({ batch }) => batch?.max ?? 1);
  return Math.max(2, ...own, ...Object.values(model.uses).map(tasksAtOnce));
}

/** Whether a network of the model, or of one that it uses, runs on a server. */
export function asksServers({ manifest, uses }: InstalledModel): boolean {
  return Object.values(manifest.files).some(({ kserve }) => kserve) || Object.values(uses).some(asksServers);
}
