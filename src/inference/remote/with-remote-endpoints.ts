/** The backend of a worker, some of whose endpoints are answered by other clusters in live mode. */
import type { Backend } from '../create-backend.ts';
import type { Dispatcher } from './dispatcher.ts';

/** What a cluster is configured for, it answers: also where a model for it is installed here. */
export function withRemoteEndpoints(backend: Backend, dispatcher: Dispatcher): Backend {
  return {
    ...backend,
    modelVersion: (job) => (job.livemode && dispatcher.modelVersion(job.endpoint)) || backend.modelVersion(job),
    remoteRun: (job) => (job.livemode ? dispatcher.remoteRun(job.endpoint) : null),
    installedEndpoints: () => [
      ...backend.installedEndpoints().filter(({ endpoint }) => dispatcher.modelVersion(endpoint) === null),
      ...dispatcher.installedEndpoints(),
    ],
  };
}
