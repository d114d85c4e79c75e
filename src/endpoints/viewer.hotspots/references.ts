import type { Result as Placed } from '../render.hotspots/result.ts';
import { type ReadResult, readReference } from '../shared/found-damages.ts';
import type { StoredFrame } from '../shared/spin-set-frames.ts';
import type { Parameters } from './request.ts';

/** The parameters with the frames and the hotspots of the named jobs. */
export interface ResolvedParameters extends Partial<Parameters> {
  frames?: readonly StoredFrame[];
  placed?: Placed['hotspots'];
}

const ADVICE = 'Run that job again.';

/** @throws ServiceError `input_unreadable` if the result of a named job has been deleted */
export async function withReferences(
  parameters: Partial<Parameters>,
  readResult: ReadResult,
): Promise<ResolvedParameters> {
  const { job_id, hotspots_job_id } = parameters;
  const spinSet = await readReference<{ frames: StoredFrame[] }>(readResult, {
    parameter: 'job_id',
    jobId: job_id,
    advice: ADVICE,
  });
  const placed = await readReference<Placed>(readResult, {
    parameter: 'hotspots_job_id',
    jobId: hotspots_job_id,
    advice: ADVICE,
  });
  return { ...parameters, ...(spinSet && { frames: spinSet.frames }), ...(placed && { placed: placed.hotspots }) };
}
