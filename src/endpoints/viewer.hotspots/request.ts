import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { hotspotKinds } from '../../contracts/vocabulary/hotspots.ts';
import { jobId } from '../../contracts/vocabulary/job-ids.ts';
import { minConfidence } from '../../contracts/vocabulary/picture-schemas.ts';

/** None: the pictures are those of the spin set. */
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
    job_id: jobId('The succeeded `render.360` job whose frames the viewer shows.'),
    hotspots_job_id: Type.Optional(
      jobId(
        'A succeeded `render.hotspots` job on the same spin set, whose hotspots are shown under the same ids. Without it, ' +
          'hotspots are looked for.',
      ),
    ),
    kinds: Type.Optional(hotspotKinds),
    min_confidence: Type.Optional(minConfidence),
  },
  { additionalProperties: false, examples: [{ job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
