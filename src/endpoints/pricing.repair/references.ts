import {
  type FindsDamages,
  type FoundDamage,
  foundDamages,
  type ReadResult,
  readReference,
} from '../shared/found-damages.ts';
import type { Parameters } from './request.ts';

/** The parameters with the damages of the named job. */
export interface ResolvedParameters extends Parameters {
  foundDamages?: readonly FoundDamage[];
}

/** @throws ServiceError `input_unreadable` if the result of the named job has been deleted */
export async function withReferences(parameters: Parameters, readResult: ReadResult): Promise<ResolvedParameters> {
  const reference = { parameter: 'job_id', jobId: parameters.job_id, advice: 'Send "damages" instead.' };
  const found = await readReference<FindsDamages>(readResult, reference);
  return { ...parameters, ...(found && { foundDamages: foundDamages(found) }) };
}
