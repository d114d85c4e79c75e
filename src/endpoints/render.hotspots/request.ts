import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { hotspotKinds } from '../../contracts/vocabulary/hotspots.ts';
import { jobId } from '../../contracts/vocabulary/job-ids.ts';
import { chosenParts } from '../../contracts/vocabulary/part-schemas.ts';
import { minConfidence } from '../../contracts/vocabulary/picture-schemas.ts';

/** None where a spin set is named instead. */
export const files = { ...onePicture, minimum: 0 } as const satisfies FileInput;

export const parameters = Type.Object(
  {
    job_id: Type.Optional(
      jobId('A succeeded `render.360` job, on whose frames hotspots are placed, instead of an image.'),
    ),
    damage_job_id: Type.Optional(
      jobId(
        'A succeeded job whose damages are placed, with their ids and severities: `damage.detect` or `damage.severity` on ' +
          'the same picture, or `inspections` of the same vehicle. Without it, damages are looked for.',
      ),
    ),
    kinds: Type.Optional(hotspotKinds),
    parts: Type.Optional(chosenParts),
    min_confidence: Type.Optional(minConfidence),
  },
  { additionalProperties: false, examples: [{ min_confidence: 0.2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
