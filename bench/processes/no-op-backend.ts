/**
 * Replaces `src/inference/backends/create-backend.ts`: returns in the worker's own process, at once, or after a fixed time
 * if the request asks for it with a parameter of `dashboard.read`. It runs slow jobs one
 * at a time, as the one child process of a worker does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoints } from '../../src/endpoints/list.ts';
import type { Backend } from '../../src/inference/backends/create-backend.ts';

export const SLOW_MODEL_MS = 200;
export const SLOW_PARAMETER = 'read_warning_lights';
const MODEL_VERSION = 'no-op@2026-01-01';

export async function createBackend(): Promise<Backend> {
  let lastTurn = Promise.resolve();
  const takeTurn = () => {
    lastTurn = lastTurn.then(runSlowModel);
    return lastTurn;
  };
  return {
    modelVersion: () => MODEL_VERSION,
    infer: async ({ reservedCredits, parameters }) => {
      if (parameters[SLOW_PARAMETER] === false) await takeTurn();
      return { status: 'succeeded', result: { nothing: null }, error: null, chargedCredits: reservedCredits };
    },
    installedEndpoints: () => endpoints.map(({ slug }) => ({ endpoint: slug, modelVersion: MODEL_VERSION })),
    reload: async () => {},
    close: async () => {},
  };
}

/** Waits, as for a GPU: this measures only the service's overhead. */
export async function runSlowModel(): Promise<void> {
  await sleep(SLOW_MODEL_MS);
}
