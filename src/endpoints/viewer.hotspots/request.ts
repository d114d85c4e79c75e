import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { hotspotKinds } from '../../contracts/vocabulary/hotspots.ts';
import { jobId } from '../../contracts/vocabulary/jobs.ts';
import { minConfidence } from '../../contracts/vocabulary/pictures.ts';

/** None: the pictures are the frames of the spin set. */
export const files = {
  field: 'image',
  minimum: 0,
  maximum: 0,
  mediaTypes: [],
  directMediaTypes: [],
  maximumBytes: 0,
} as const satisfies FileInput;

export const parameters = Type.Object(
  {
    job_id: jobId('A succeeded `render.360` job, whose frames the viewer shows.'),
    hotspots_job_id: Type.Optional(
      jobId(
        'A succeeded `render.hotspots` job on the same spin set. Its hotspots are returned under the same ids. Without ' +
          'it the endpoint looks for hotspots itself.',
      ),
    ),
    kinds: Type.Optional(hotspotKinds),
    min_confidence: Type.Optional(minConfidence),
  },
  { additionalProperties: false, examples: [{ job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
