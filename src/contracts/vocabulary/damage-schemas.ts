/** How requests and results state one damage. */
import { Type } from 'typebox';
import { DAMAGE_TYPES } from './damages.ts';
import { partName, side } from './part-schemas.ts';
import { boundingBox, closed, confidence, nullable, polygon } from './schemas.ts';

const millimetres = nullable(Type.Number({ minimum: 0, description: 'Null where the scale is not known.' }));

export const damageId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'Names the damage within one request and its result, such as `damage_1`.',
});

export const damageType = Type.Enum(DAMAGE_TYPES);

export const damagedPart = nullable(partName);

export const damageSize = closed(
  {
    length_mm: millimetres,
    width_mm: millimetres,
    part_area_fraction: nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Share of the part, as far as it is seen.' }),
    ),
    confidence,
  },
  'An estimate from the size of the parts around it: the longest extent, and across it.',
);

/** A damage as `damage.detect` answers it. */
export const damage = closed({
  id: damageId,
  type: damageType,
  part: damagedPart,
  side,
  confidence,
  bbox: boundingBox,
  polygon,
  size: nullable(damageSize),
});
