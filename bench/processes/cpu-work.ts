/** Replaces a model that computes: CPU time in a thread of its own, one job after another. */
import { Worker } from 'node:worker_threads';

export const CPU_WORK_MS = 50;
export const CPU_WORK_MODEL = 'cpu-work@2026-01-01';

export interface CpuWork {
  run(): Promise<void>;
  close(): Promise<unknown>;
}

export function startCpuWork(): CpuWork {
  const thread = new Worker(new URL('cpu-work-thread.ts', import.meta.url));
  const waiting: (() => void)[] = [];
  thread.on('message', () => waiting.shift()?.());
  return {
    run: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        thread.postMessage('run');
      }),
    close: () => thread.terminate(),
  };
}
