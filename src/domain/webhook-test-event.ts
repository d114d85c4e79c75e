/** The event that an endpoint is tested with: shaped as any other, of a job that does not exist, and marked. */
import { renderEvent } from './job-event.ts';
import type { JobResource } from './job-resource.ts';

interface TestEvent {
  id: string;
  createdAt: Date;
  /** An example of a job that succeeded. */
  job: JobResource;
  requestId: string;
}

/** The exact text that is stored, signed and delivered. */
export function renderTestEvent({ id, createdAt, job, requestId }: TestEvent): string {
  const event = renderEvent({ id, type: 'job.succeeded', createdAt, job, requestId, idempotencyKey: null });
  return JSON.stringify({ ...(JSON.parse(event) as object), test: true });
}
