import type { Result as Detected } from '../damage.detect/result.ts';
import { type ReadResult, readReference } from '../shared/found-damages.ts';
import type { Parameters } from './request.ts';

/** Replaces `damage_job_id` by the damages of that job. @throws ServiceError `input_unreadable` if they have been deleted */
export async function withReferences(parameters: Parameters, readResult: ReadResult): Promise<Parameters> {
  const { damage_job_id: jobId, ...others } = parameters;
  const reference = { parameter: 'damage_job_id', jobId, advice: 'Send "damages" instead.' };
  const found = await readReference<Detected>(readResult, reference);
  return found ? { ...others, damages: found.damages } : parameters;
}
