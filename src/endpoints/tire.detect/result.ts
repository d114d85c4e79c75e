import { Type } from 'typebox';
import { qualityIssues } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, classified, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import {
  RIM_DAMAGES,
  RIM_TYPES,
  SIDEWALL_DAMAGES,
  TIRE_POSITIONS,
  TREAD_DEPTHS,
  TREAD_WEAR,
  WEAR_PATTERNS,
} from '../../contracts/vocabulary/tires.ts';

const found = <Types extends string>(types: readonly Types[], description: string) =>
  Type.Array(closed({ type: Type.Enum([...types]), confidence, bbox: boundingBox }), { description });

const tread = closed(
  {
    wear: classified(TREAD_WEAR),
    depth: classified(TREAD_DEPTHS),
    pattern: classified(WEAR_PATTERNS),
    bbox: boundingBox,
  },
  'Visual classes, not measurements.',
);

const tire = closed({
  id: Type.String({ description: 'Identifies the tire within the result, such as `tire_1`.' }),
  position: nullable(classified(TIRE_POSITIONS)),
  confidence,
  bbox: boundingBox,
  tread: nullable(tread),
  sidewall_damages: found(SIDEWALL_DAMAGES, 'Damage to the visible sidewall.'),
});

const rim = closed({
  type: classified(RIM_TYPES),
  bbox: boundingBox,
  damages: found(RIM_DAMAGES, 'Damage to the visible side of the rim.'),
});

const wheel = closed({
  id: Type.String({ description: 'Identifies the wheel within the result, such as `wheel_1`.' }),
  tire_id: nullable(Type.String({ description: 'The tire mounted on the wheel; null for a bare rim.' })),
  confidence,
  bbox: boundingBox,
  rim,
});

export const result = closed({
  tires: Type.Array(tire, { description: 'Most confident first. `tread` is null if only the sidewall is visible.' }),
  wheels: Type.Array(wheel, { description: 'Rims, with or without a tire, most confident first.' }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
