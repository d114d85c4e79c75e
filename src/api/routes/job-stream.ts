/** `GET /v1/jobs/{id}/events`: server-sent events of a job, until it has ended or the client leaves. */
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Job } from '../../db/entities.ts';
import type { JobSettlements } from '../../db/jobs/job-settlements.ts';
import { renderJob } from '../../domain/job-resource.ts';
import { isTerminal } from '../../domain/job-states.ts';
import type { ApiContext } from '../context.ts';
import { findOwnJob } from './jobs.ts';

/** How soon a change that is not a settlement is seen; also keeps idle proxies from closing the connection. */
const POLL_INTERVAL_MS = 1_000;

interface StreamDependencies {
  settlements: JobSettlements;
  logger: Logger;
}

export function createJobStreamRoute({ settlements, logger }: StreamDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const job = await findOwnJob(context);
    // Browsers come again when a stream ends, with the id of the last event they saw, until they are answered this.
    if (isTerminal(job.status) && context.get('Last-Event-ID') === job.status) {
      context.status = 204;
      return;
    }
    const stream = new PassThrough();
    context.type = 'text/event-stream';
    context.set('Cache-Control', 'no-store');
    context.body = stream;
    const left = new AbortController();
    context.res.once('close', () => left.abort());
    follow(context, job.id, stream, left.signal)
      .catch((err: unknown) => logger.warn({ jobId: job.id, err }, 'job stream ended early'))
      .finally(() => stream.end());
  };

  async function follow(context: ApiContext, jobId: string, stream: PassThrough, left: AbortSignal): Promise<void> {
    let sent = '';
    while (!left.aborted) {
      const waited = new AbortController();
      const settled = settlements.settled(jobId, AbortSignal.any([left, waited.signal]));
      const job = await context.state.em.fork().findOneOrFail(Job, { id: jobId });
      const resource = renderJob(job);
      const data = JSON.stringify(resource);
      // The id lets a client that reconnects see that it missed nothing.
      stream.write(
        data === sent ? ': still here\n\n' : `event: job.${resource.status}\nid: ${resource.status}\ndata: ${data}\n\n`,
      );
      sent = data;
      if (isTerminal(job.status)) return waited.abort();
      await Promise.race([settled, delay(POLL_INTERVAL_MS, undefined, { signal: left }).catch(() => {})]);
      waited.abort();
    }
  }
}
