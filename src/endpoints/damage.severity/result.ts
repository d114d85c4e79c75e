import { Type } from 'typebox';
import { damagedPart, damageId, damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { MATERIALS, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { side } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues } from '../../contracts/vocabulary/picture-schemas.ts';
import { boundingBox, classified, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';

const judged = (description: string) => closed({ value: Type.Boolean(), confidence }, description);

const severity = classified([...SEVERITIES]);

const gradedDamage = closed({
  id: damageId,
  type: damageType,
  part: damagedPart,
  side,
  bbox: boundingBox,
  severity,
  repair_method: classified([...REPAIR_METHODS]),
  material: nullable(classified([...MATERIALS])),
  paint_required: judged('Whether the repair ends in the paint shop.'),
  safety_relevant: judged('Whether lights, glass, wheels or the structure are concerned.'),
});

const overall = closed({
  severity,
  drivable: judged('Whether the vehicle can be driven from where it stands, by what is seen.'),
  total_loss: judged('Whether repair is likely to cost more than the vehicle is worth.'),
});

export const result = closed({
  overall: nullable(overall),
  damages: Type.Array(gradedDamage, {
    description:
      'In the order of the request, else most severe first. A damage of the request that is not seen is left out.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
