/** Marks that a viewer shows on pictures of a vehicle and a visitor can open. */
import { Type } from 'typebox';
import { damageId, damageType, SEVERITIES } from './damages.ts';
import { partName, side } from './parts.ts';
import { classified, closed, confidence, nullable } from './schemas.ts';

export const HOTSPOT_KINDS = ['damage', 'part'] as const;

export const hotspotId = Type.String({ pattern: '^hotspot_[0-9]+$', description: 'Unique in the result.' });

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** The position of a hotspot. Unlike all other coordinates it is normalised: a viewer scales it to its display size. */
export const normalizedPosition = {
  x_normalized: fraction('Distance from the left edge as a fraction of the width of the picture as displayed.'),
  y_normalized: fraction('Distance from the top edge as a fraction of the height of the picture as displayed.'),
  prominence: fraction(
    'How squarely the camera sees the spot: 1 straight on, approaching 0 at a grazing angle. Use it to fade a mark out.',
  ),
};

const hotspotDamage = closed(
  {
    damage_id: nullable(damageId),
    type: damageType,
    severity: nullable({ ...classified(SEVERITIES), description: 'Null if unknown.' }),
  },
  'Null for a part. `damage_id` is the id from the named damage job; null without one.',
);

export const hotspot = {
  id: hotspotId,
  kind: Type.Enum(HOTSPOT_KINDS),
  label: Type.String({ minLength: 1, maxLength: 80, description: 'Plain English, ready for display.' }),
  part: nullable(partName),
  side,
  damage: nullable(hotspotDamage),
  confidence,
};

export const hotspotKinds = Type.Array(Type.Enum(HOTSPOT_KINDS), {
  minItems: 1,
  maxItems: HOTSPOT_KINDS.length,
  uniqueItems: true,
  description: 'The kinds of hotspots to return. Defaults to every kind.',
});
