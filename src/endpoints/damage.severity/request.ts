import { Type } from 'typebox';
import { damagedPart, damageId, damageSize, damageType } from '../../contracts/vocabulary/damages.ts';
import { jobId } from '../../contracts/vocabulary/jobs.ts';
import { side } from '../../contracts/vocabulary/parts.ts';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, closed, confidence, nullable, polygon } from '../../contracts/vocabulary/schemas.ts';

export const files = onePicture;

const region = closed({
  id: Type.Optional(damageId),
  bbox: boundingBox,
  polygon: Type.Optional(polygon),
  type: Type.Optional(damageType),
  part: Type.Optional(damagedPart),
  side: Type.Optional(side),
  confidence: Type.Optional(confidence),
  size: Type.Optional(nullable(damageSize)),
});

export const parameters = Type.Object(
  {
    damages: Type.Optional(
      Type.Array(region, {
        minItems: 1,
        maxItems: 50,
        description:
          'The damages to grade, within the picture. Items of `damages` in a `damage.detect` result are accepted unchanged. Without `damages` ' +
          'and `damage_job_id` the endpoint looks for damages itself.',
      }),
    ),
    damage_job_id: Type.Optional(jobId('A succeeded `damage.detect` job on the same file. Its damages are graded.')),
  },
  { additionalProperties: false, examples: [{ damage_job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
