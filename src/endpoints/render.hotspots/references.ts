import type { Result as Detected } from '../damage.detect/result.ts';
import {
  type FindsDamages,
  type FoundDamage,
  foundDamages,
  type ReadResult,
  readReference,
} from '../shared/found-damages.ts';
import type { StoredFrame } from '../shared/spin-set-frames.ts';
import type { Parameters } from './request.ts';

/** The parameters with the frames and the damages of the named jobs. */
export interface ResolvedParameters extends Parameters {
  frames?: readonly StoredFrame[];
  foundDamages?: readonly FoundDamage[];
  /** Where a job on the same picture saw its damages, by their ids, in pixels; absent for a job on other pictures. */
  damageBoxes?: Readonly<Record<string, Box>>;
}

type Box = Detected['damages'][number]['bbox'];

const ADVICE = 'Run that job again.';

/** @throws ServiceError `input_unreadable` if the result of a named job has been deleted */
export async function withReferences(parameters: Parameters, readResult: ReadResult): Promise<ResolvedParameters> {
  const { job_id, damage_job_id } = parameters;
  const spinSet = await readReference<{ frames: StoredFrame[] }>(readResult, {
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
    ...(found && 'damages' in found && { damageBoxes: boxesOf(found.damages) }),
  };
}

function boxesOf(damages: readonly Pick<Detected['damages'][number], 'id' | 'bbox'>[]): Record<string, Box> {
  return Object.fromEntries(damages.map(({ id, bbox }) => [id, bbox]));
}
