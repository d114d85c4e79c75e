import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { hotspotKinds } from '../../contracts/vocabulary/hotspots.ts';
import { jobId } from '../../contracts/vocabulary/jobs.ts';
import { chosenParts } from '../../contracts/vocabulary/parts.ts';
import { minConfidence, onePicture } from '../../contracts/vocabulary/pictures.ts';

/** None if the request names a spin set. */
export const files = { ...onePicture, minimum: 0 } as const satisfies FileInput;

export const parameters = Type.Object(
  {
    job_id: Type.Optional(
      jobId('A succeeded `render.360` job. Hotspots are placed on its frames instead of on an image.'),
    ),
    damage_job_id: Type.Optional(
      jobId(
        'A succeeded job whose damages are placed, with their ids and severities: `damage.detect` or `damage.severity` on ' +
          'the same picture, or `inspections` of the same vehicle. Without it the endpoint looks for damages itself.',
      ),
    ),
    kinds: Type.Optional(hotspotKinds),
    parts: Type.Optional(chosenParts),
    min_confidence: Type.Optional(minConfidence),
  },
  { additionalProperties: false, examples: [{ min_confidence: 0.2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
