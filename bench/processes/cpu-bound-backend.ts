/** Replaces `src/inference/backends/create-backend.ts`: every job costs CPU time. */
import type { Backend } from '../../src/inference/backends/create-backend.ts';
import { startCpuWork } from './cpu-work.ts';
import { createBackend as createNoOpBackend } from './no-op-backend.ts';

export async function createBackend(): Promise<Backend> {
  const work = startCpuWork();
  const backend = await createNoOpBackend();
  return {
    ...backend,
    async infer(request, context) {
      await work.run();
      return backend.infer(request, context);
    },
    async close() {
      await work.close();
    },
  };
}
