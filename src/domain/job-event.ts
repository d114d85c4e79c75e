/** The event that tells of a job's end. */
import type { EventType, TerminalJobStatus } from '../contracts/job.ts';
import { epochSeconds, type JobResource } from './job-resource.ts';

export const API_VERSION = '2026-10-04';

/** The event a terminal status causes. A customer who cancels knows it, so `canceled` causes none. */
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
