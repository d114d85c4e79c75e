import {
  type FindsDamages,
  type FoundDamage,
  foundDamages,
  type ReadResult,
  readReference,
} from '../shared/found-damages.ts';
import type { SpinFrame } from '../shared/spin-set-frames.ts';
import type { Parameters } from './request.ts';

/** The parameters with the frames and the damages of the named jobs. */
export interface ResolvedParameters extends Parameters {
  frames?: readonly SpinFrame[];
  foundDamages?: readonly FoundDamage[];
}

const ADVICE = 'Run that job again.';

/** @throws ServiceError `input_unreadable` if the result of a named job has been deleted */
export async function withReferences(parameters: Parameters, readResult: ReadResult): Promise<ResolvedParameters> {
  const { job_id, damage_job_id } = parameters;
  const spinSet = await readReference<{ frames: SpinFrame[] }>(readResult, {
    parameter: 'job_id',
    jobId: job_id,
    advice: ADVICE,
  });
  const found = await readReference<FindsDamages>(readResult, {
    parameter: 'damage_job_id',
    jobId: damage_job_id,
    advice: ADVICE,
  });
  return {
    ...parameters,
    ...(spinSet && { frames: spinSet.frames }),
    ...(found && { foundDamages: foundDamages(found) }),
  };
}
