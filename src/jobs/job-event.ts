/** The event of a job's end. */
import { API_VERSION } from '../contracts/api-version.ts';
import type { EventType, TerminalJobStatus } from '../contracts/job.ts';
import { epochSeconds } from '../platform/epoch-seconds.ts';
import { ID_PREFIXES } from '../platform/ids.ts';
import type { JobResource } from './job-resource.ts';

/** The event of a terminal status. `canceled` has none: the customer who cancels knows it. */
export function eventTypeOf(status: TerminalJobStatus): EventType | null {
  switch (status) {
    case 'succeeded':
      return 'job.succeeded';
    case 'partial':
      return 'job.partial';
    case 'failed':
    case 'expired':
      return 'job.failed';
    case 'canceled':
      return null;
  }
}

/** Derived from the job, so that a settlement repeated after a crash of PostgreSQL gives its event the same id (ADR 0014). */
export function eventIdOf(jobId: string): string {
  return ID_PREFIXES.event + jobId.slice(ID_PREFIXES.job.length);
}

interface JobEvent {
  id: string;
  type: EventType;
  createdAt: Date;
  job: JobResource;
  requestId: string;
  idempotencyKey: string | null;
}

/** The exact text that is stored, signed and delivered. */
export function renderEvent({ id, type, createdAt, job, requestId, idempotencyKey }: JobEvent): string {
  return JSON.stringify({
    id,
    object: 'event',
    type,
    created: epochSeconds(createdAt),
    livemode: job.livemode,
    is_staging: job.is_staging,
    api_version: API_VERSION,
    data: { object: job },
    request: { id: requestId, idempotency_key: idempotencyKey },
  });
}
