/** Replaces `src/inference/backends/create-backend.ts`: live jobs end at once, test jobs get the fixtures of their endpoint. */
import { endpoints } from '../../src/endpoints/list.ts';
import type { Backend, BackendOptions } from '../../src/inference/backends/create-backend.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import { createBackend as createNoOpBackend } from './no-op-backend.ts';

export async function createBackend(options: BackendOptions): Promise<Backend> {
  const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
  const fixture = createFixtureBackend({ ...options, endpoints, endpointsDirectory });
  const live = await createNoOpBackend();
  const backendFor = (job: { livemode: boolean }) => (job.livemode ? live : fixture);
  return {
    ...live,
    modelVersion: (job) => backendFor(job).modelVersion(job),
    infer: (request, context) => backendFor(request).infer(request, context),
    bundles: fixture.bundles,
    async close() {
      await Promise.all([live.close(), fixture.close()]);
    },
  };
}
