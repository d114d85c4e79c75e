/** Marks on the pictures of a vehicle that a viewer shows and a visitor opens. */
import { Type } from 'typebox';
import { damageId, damageType } from './damage-schemas.ts';
import { SEVERITIES } from './damages.ts';
import { partName, side } from './part-schemas.ts';
import { classified, closed, confidence, nullable } from './schemas.ts';

export const HOTSPOT_KINDS = ['damage', 'part'] as const;

export const hotspotId = Type.String({ pattern: '^hotspot_[0-9]+$', description: 'Unique in the result.' });

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/**
 * Where a hotspot lies. Unlike everything else that has a place, it is not in pixels: a viewer multiplies it by whatever
 * size it shows the picture in.
 */
export const normalizedPosition = {
  x_normalized: fraction("Share of the picture's width, from its left edge; of the picture as displayed."),
  y_normalized: fraction("Share of the picture's height, from its top edge."),
  prominence: fraction('How squarely the spot is seen: 1 straight on, towards 0 at a grazing angle. Fades a mark out.'),
};

const hotspotDamage = closed(
  {
    damage_id: nullable(damageId),
    type: damageType,
    severity: nullable({ ...classified([...SEVERITIES]), description: 'Null where it is not known.' }),
  },
  'Null of a part. `damage_id` is that of the damage job that was named, if one was.',
);

export const hotspot = {
  id: hotspotId,
  kind: Type.Enum(HOTSPOT_KINDS),
  label: Type.String({ minLength: 1, maxLength: 80, description: 'Plain English, ready to be shown.' }),
  part: nullable(partName),
  side,
  damage: nullable(hotspotDamage),
  confidence,
};

export const hotspotKinds = Type.Array(Type.Enum(HOTSPOT_KINDS), {
  minItems: 1,
  maxItems: HOTSPOT_KINDS.length,
  uniqueItems: true,
  description: 'The kinds of hotspots to answer; every kind when left out.',
});
