/** The event of an endpoint test: an ordinary event of a job that does not exist, marked `"test": true`. */
import { renderEvent } from '../jobs/job-event.ts';
import type { JobResource } from '../jobs/job-resource.ts';

interface TestEvent {
  id: string;
  createdAt: Date;
  /** An example of a succeeded job. */
  job: JobResource;
  requestId: string;
}

/** Returns the exact text that is stored, signed and delivered. */
export function renderTestEvent({ id, createdAt, job, requestId }: TestEvent): string {
  const event = renderEvent({ id, type: 'job.succeeded', createdAt, job, requestId, idempotencyKey: null });
  return JSON.stringify({ ...(JSON.parse(event) as object), test: true });
}
