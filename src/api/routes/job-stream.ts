/** `GET /v1/jobs/{id}/events`: server-sent events of a job, until it ends or the client disconnects. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { renderFollowedJob } from '../../jobs/job-follower.ts';
import { isTerminal } from '../../jobs/job-states.ts';
import type { ApiContext } from '../context.ts';
import type { JobStreams } from '../job-streams.ts';
import { findJobInPath } from './jobs.ts';

interface StreamDependencies {
  endpoints: readonly EndpointContract[];
  jobStreams: JobStreams;
}

export function createJobStreamRoute({ endpoints, jobStreams }: StreamDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const job = await findJobInPath(context, endpoints);
    // Browsers reconnect when a stream ends, sending the id of the last event, until they receive a 204.
    if (isTerminal(job.status) && context.get('Last-Event-ID') === job.status) {
      context.status = 204;
      return;
    }
    const { apiKey: caller, secretHash } = context.state;
    const { id: jobId, endpoint } = job;
    const { events, close } = jobStreams.open({ jobId, endpoint, caller, secretHash, first: renderFollowedJob(job) });
    context.type = 'text/event-stream';
    context.set('Cache-Control', 'no-store');
    context.body = events;
    context.res.once('close', close);
    // The client hung up while the job was read.
    if (context.res.closed) close();
  };
}
