/** What is seen on pictures → hotspots, each with its place on every picture that shows it. Pure. */
import type { Result } from '../render.hotspots/result.ts';
import type { FoundDamage } from './found-damages.ts';
import { prominenceOf } from './hotspot-places.ts';
import type { SeenPicture, Spot } from './spot-finder.ts';

type Hotspot = Omit<Result['hotspots'][number], 'id'>;
type Placement = Hotspot['placements'][number];

/** A damage of a named job; `at` is where on the only picture that job saw it, null if it saw other pictures. */
export interface NamedDamage extends Pick<FoundDamage, 'id' | 'type' | 'part' | 'side' | 'severity' | 'confidence'> {
  at: { x: number; y: number } | null;
}

interface Followed {
  spot: Spot;
  placements: Placement[];
}

/**
 * @param pictures one, or the frames of a spin set in its order
 * @param named damages to place instead of those seen; null: none are named
 */
export function placeHotspots(pictures: readonly SeenPicture[], named: readonly NamedDamage[] | null): Result {
  const followed = follow(pictures);
  const ofDamages = followed.filter(({ spot }) => spot.type !== null);
  const parts = followed.filter(({ spot }) => spot.type === null).map(toHotspot);
  const damages: Hotspot[] = [];
  const unplaced: Result['unplaced_damages'] = [];
  for (const damage of named ?? []) {
    const hotspot = placeNamed(damage, ofDamages, pictures);
    if (hotspot) damages.push(hotspot);
    else unplaced.push(unplacedOf(damage, parts));
  }
  const sorted = (hotspots: readonly Hotspot[]) => hotspots.toSorted((a, b) => b.confidence - a.confidence);
  const all = [...sorted(named ? damages : ofDamages.map(toHotspot)), ...sorted(parts)];
  return {
    hotspots: all.map((hotspot, index) => ({ id: `hotspot_${index + 1}`, ...hotspot })),
    unplaced_damages: unplaced,
  };
}

/**
 * On several pictures, a part is the same part by its name and side, and a damage the same damage by its type, part and side. A
 * damage on no known part is followed nowhere. On one picture, every find is one of its own.
 */
function follow(pictures: readonly SeenPicture[]): Followed[] {
  const found = new Map<string, Followed>();
  for (const [frame_index, { spots, azimuthDegrees }] of pictures.entries()) {
    for (const [index, spot] of spots.entries()) {
      const { type, part, side } = spot;
      const isFollowed = pictures.length > 1 && part !== null;
      const key = isFollowed ? `${type} ${part} ${side}` : `${frame_index} ${index}`;
      const prominence = prominenceOf(part, side, azimuthDegrees);
      const placement = { frame_index, x_normalized: spot.x, y_normalized: spot.y, prominence };
      const before = found.get(key);
      if (!before) {
        found.set(key, { spot, placements: [placement] });
        continue;
      }
      // The surest of several finds of a frame.
      const isOfFrame = before.placements.at(-1)?.frame_index === frame_index;
      if (!isOfFrame) before.placements.push(placement);
      if (spot.confidence <= before.spot.confidence) continue;
      if (isOfFrame) before.placements[before.placements.length - 1] = placement;
      before.spot = spot;
    }
  }
  return [...found.values()];
}

function toHotspot({ spot, placements }: Followed): Hotspot {
  const { type, part, side, confidence } = spot;
  return {
    kind: type === null ? 'part' : 'damage',
    label: labelOf(spot),
    part,
    side,
    damage: type === null ? null : { damage_id: null, type, severity: null },
    confidence,
    placements,
  };
}

/** Where the named job saw it on this picture, or else where a damage of its type on its part is seen now. */
function placeNamed(damage: NamedDamage, seen: readonly Followed[], pictures: readonly SeenPicture[]): Hotspot | null {
  const { id: damage_id, type, part, side, severity, confidence, at } = damage;
  const asNamed = (placements: Placement[], sureness: number): Hotspot => ({
    kind: 'damage',
    label: labelOf({ type, part, side }),
    part,
    side,
    damage: { damage_id, type, severity },
    confidence: sureness,
    placements,
  });
  if (at) {
    const prominence = prominenceOf(part, side, pictures[0]?.azimuthDegrees ?? null);
    return asNamed([{ frame_index: 0, x_normalized: at.x, y_normalized: at.y, prominence }], confidence);
  }
  const match = seen.find(({ spot }) => spot.type === type && part !== null && isSamePart(spot, { part, side }));
  return match ? asNamed(match.placements, Math.min(confidence, match.spot.confidence)) : null;
}

function unplacedOf({ id, type, part, side }: NamedDamage, parts: readonly Hotspot[]) {
  const isShown = part === null || parts.some((shown) => isSamePart(shown, { part, side }));
  return { damage_id: id, type, part, side, reason: isShown ? ('not_found' as const) : ('not_shown' as const) };
}

type Named = Pick<Spot, 'part' | 'side'>;

/** An unknown side may be either. */
function isSamePart(one: Named, other: Named): boolean {
  return one.part === other.part && (one.side === other.side || one.side === null || other.side === null);
}

/** Such as `Scratch on the left front door`, `Left headlight` or `Dent`. */
export function labelOf({ type, part, side }: Pick<Spot, 'type' | 'part' | 'side'>): string {
  const place = [side === 'none' ? null : side, part].filter((word) => word !== null).join(' ');
  const text = [type, part === null ? null : place].filter((word) => word !== null).join(' on the ');
  const plain = text.replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
