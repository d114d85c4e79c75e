/** Assigns damages to parts where the damage model does not. Pure. */
import type { Result as Damages } from '../damage.detect/result.ts';
import type { Result as Parts } from '../parts.recognize/result.ts';

type Damage = Damages['damages'][number];
type Part = Parts['parts'][number];
type Box = Damage['bbox'];

/** Minimum fraction of a damage's box that lies within the box of its part. */
const LEAST_SHARE = 0.5;

/** Chooses the smallest part whose box holds most of the damage: a door handle lies within the box of its door. */
export function placeDamages(damages: readonly Damage[], parts: readonly Part[]): Damage[] {
  return damages.map((damage) => {
    if (damage.part !== null) return damage;
    const [on] = parts
      .filter(({ bbox }) => sharedArea(damage.bbox, bbox) >= LEAST_SHARE * areaOf(damage.bbox))
      .toSorted((a, b) => areaOf(a.bbox) - areaOf(b.bbox));
    return on ? { ...damage, part: on.part, side: on.side } : damage;
  });
}

function sharedArea(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

function areaOf({ width, height }: Box): number {
  return width * height;
}
