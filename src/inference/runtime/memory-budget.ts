/** Which releases fit into `INFERENCE_MEMORY_MB` together, by the `memoryMb` of their `model.json`. */
import { versionOf } from '../models/manifest.ts';
import { type InstalledModel, memoryMbOf } from '../models/registry.ts';

export interface MemoryBudget {
  /** Megabytes that all processes of a model need, with the models that it uses. */
  neededMb(model: InstalledModel): number;
  /** Whether a model fits beside others that take `takenMb`; always where memory has no bound. */
  fits(model: InstalledModel, takenMb: number): boolean;
  /** Why a model does not fit beside others that take `takenMb`; null where it does. */
  problem(model: InstalledModel, takenMb: number): string | null;
}

/**
 * @param limitMb null for no bound
 * @param processes of each model, on all devices together
 */
export function createMemoryBudget(limitMb: number | null, processes: number): MemoryBudget {
  const neededMb = (model: InstalledModel) => memoryMbOf(model) * processes;
  return {
    neededMb,
    fits: (model, takenMb) => limitMb === null || neededMb(model) <= limitMb - takenMb,
    problem: (model, takenMb) => {
      if (limitMb === null) return null;
      const silent = modelWithoutMemoryMb(model);
      if (silent) {
        return `memoryMb is missing from model.json of ${versionOf(silent.manifest)}, and INFERENCE_MEMORY_MB is set`;
      }
      const freeMb = limitMb - takenMb;
      if (neededMb(model) <= freeMb) return null;
      return (
        `it needs ${neededMb(model)} MB in ${processes} processes, INFERENCE_MEMORY_MB is ${limitMb}, and other ` +
        `models take all but ${freeMb} MB of it`
      );
    },
  };
}

/** The model, or one that it uses. */
function modelWithoutMemoryMb(model: InstalledModel): InstalledModel | undefined {
  if (model.manifest.memoryMb === undefined) return model;
  return Object.values(model.uses)
    .map(modelWithoutMemoryMb)
    .find((silent) => silent);
}
