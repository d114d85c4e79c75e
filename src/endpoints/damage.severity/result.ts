import { Type } from 'typebox';
import {
  damagedPart,
  damageId,
  damageType,
  MATERIALS,
  REPAIR_METHODS,
  SEVERITIES,
} from '../../contracts/vocabulary/damages.ts';
import { side } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, classified, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';

const assessed = (description: string) => closed({ value: Type.Boolean(), confidence }, description);

const severity = classified(SEVERITIES);

const gradedDamage = closed({
  id: damageId,
  type: damageType,
  part: damagedPart,
  side,
  bbox: boundingBox,
  severity,
  repair_method: classified(REPAIR_METHODS),
  material: nullable(classified(MATERIALS)),
  paint_required: assessed('Whether the repair needs paint.'),
  safety_relevant: assessed('Whether the damage affects lights, glass, wheels or the structure.'),
});

const overall = closed({
  severity,
  drivable: assessed('Whether the vehicle can be driven, judging by the picture.'),
  total_loss: assessed('Whether the repair is likely to cost more than the vehicle is worth.'),
});

export const result = closed({
  overall: nullable(overall),
  damages: Type.Array(gradedDamage, {
    description:
      'In the order of the request, otherwise most severe first. Requested damages that are not visible are omitted.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
