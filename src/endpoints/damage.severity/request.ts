import { Type } from 'typebox';
import { damagedPart, damageId, damageSize, damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { side } from '../../contracts/vocabulary/part-schemas.ts';
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
          'The damages to grade. An item of the `damages` of a `damage.detect` result is accepted as it is. Without ' +
          '`damages` and `damage_job_id`, damages are looked for.',
      }),
    ),
    damage_job_id: Type.Optional(
      Type.String({
        pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$',
        description: 'A succeeded `damage.detect` job on the same picture, whose damages are graded.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ damage_job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
