/** A worker's backend in which other clusters serve some endpoints in live mode. */
import type { Backend } from '../backends/create-backend.ts';
import type { Dispatcher } from './dispatcher.ts';

/** A configured cluster serves its endpoint even if a local model for it is installed. */
export function withRemoteEndpoints(backend: Backend, dispatcher: Dispatcher): Backend {
  return {
    ...backend,
    modelVersion: (job) => (job.livemode && dispatcher.modelVersion(job.endpoint)) || backend.modelVersion(job),
    remoteRun: (job) => (job.livemode ? dispatcher.remoteRun(job.endpoint) : null),
    trial: (endpoint) => (dispatcher.modelVersion(endpoint) === null ? (backend.trial?.(endpoint) ?? null) : null),
    installedEndpoints: () => [
      ...backend.installedEndpoints().filter(({ endpoint }) => dispatcher.modelVersion(endpoint) === null),
      ...dispatcher.installedEndpoints(),
    ],
  };
}
