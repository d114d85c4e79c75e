/** Views and parts: the view that parts show, and the parts that a view can show. */
import type { COMPASS_VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import type { OutlinedPart } from './part-outlines.ts';

type CompassView = (typeof COMPASS_VIEWS)[number];
type SeenPart = Pick<OutlinedPart, 'part' | 'side' | 'confidence' | 'area'>;

/** Parts of each face of a vehicle. Glass is seen from too many directions to tell one. */
const FRONT_PARTS = ['front_bumper', 'hood', 'headlight'];
const REAR_PARTS = ['rear_bumper', 'taillight'];
const SIDE_PARTS = ['front_door', 'rear_door'];
/** Belongs to the rear, but along the side of a pickup the network takes its bed for one. */
const LID = 'trunk_lid';

/**
 * Share of the doors in the area of doors and face, below which a picture shows the face only, and above which the side only.
 * Chosen on 108 photographs of the training set.
 */
const LEAST_OF_TWO_FACES = 0.1;
const MOST_OF_TWO_FACES = 0.8;

/**
 * The face that covers more area, front or rear, together with the side whose doors do.
 * @param parts with their area, in any unit
 * @returns null without bumper, hood, lid, lights and doors. The confidence is the mean of the parts that decide, by area
 */
export function viewOfParts(parts: readonly SeenPart[]): { value: CompassView; confidence: number } | null {
  const among = (names: readonly string[]) => parts.filter(({ part }) => names.includes(part));
  const doors = among(SIDE_PARTS);
  const left = doors.filter(({ side }) => side === 'left');
  const right = doors.filter(({ side }) => side === 'right');
  const [front, rear] = [among(FRONT_PARTS), among(doors.length > 0 ? REAR_PARTS : [...REAR_PARTS, LID])];
  const [face, faceName] = areaOf(rear) > areaOf(front) ? [rear, 'rear' as const] : [front, 'front' as const];
  const [side, sideName] = areaOf(right) > areaOf(left) ? [right, 'right' as const] : [left, 'left' as const];
  const total = areaOf(face) + areaOf(side);
  if (total === 0) return null;
  const shareOfSide = areaOf(side) / total;
  if (shareOfSide < LEAST_OF_TWO_FACES) return { value: faceName, confidence: confidenceOf(face) };
  if (shareOfSide > MOST_OF_TWO_FACES) return { value: sideName, confidence: confidenceOf(side) };
  return { value: `${faceName}_${sideName}`, confidence: confidenceOf([...face, ...side]) };
}

/**
 * Those of the parts that a picture with this view can show: none of the rear from the front, nor the other way round. On close-ups
 * one smooth panel is easily taken for another.
 * @param view null for a picture that tells none, which rules nothing out
 */
export function partsInView<Seen extends Pick<OutlinedPart, 'part'>>(
  parts: readonly Seen[],
  view: { value: string } | null,
): Seen[] {
  const face = view?.value.split('_')[0];
  const hidden = face === 'front' ? [...REAR_PARTS, LID] : face === 'rear' ? FRONT_PARTS : [];
  return parts.filter(({ part }) => !hidden.includes(part));
}

function areaOf(parts: readonly SeenPart[]): number {
  return parts.reduce((sum, { area }) => sum + area, 0);
}

function confidenceOf(parts: readonly SeenPart[]): number {
  return parts.reduce((sum, { area, confidence }) => sum + area * confidence, 0) / areaOf(parts);
}
