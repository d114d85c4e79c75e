/** Derives the walk around a vehicle from the frames of a video. Pure. */
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import type { Result } from '../video.onboard/result.ts';

export type CompassView = (typeof COMPASS_VIEWS)[number];
type Passage = Result['quality_issues'][number];
type Issue = Pick<Passage, 'reason' | 'confidence'>;

/** One frame of the video. */
export interface Sighting {
  timeOffsetMs: number;
  /** The compass view of the vehicle; null without a vehicle or an exterior view. */
  view: { value: CompassView; confidence: number } | null;
  issues: readonly Issue[];
}

const STEP_DEGREES = 360 / COMPASS_VIEWS.length;

/**
 * Sums the steps from view to view, each the shorter way round; opposite directions cancel out. The confidence is the mean
 * confidence of the views × the net share of the steps. Null without a net direction.
 */
export function walkOf(sightings: readonly Sighting[]): Result['walk'] {
  const views = sightings.flatMap(({ view }) => view ?? []);
  let net = 0;
  let total = 0;
  for (const [index, { value }] of views.entries()) {
    const before = views[index - 1];
    if (!before) continue;
    const step = stepsBetween(before.value, value);
    net += step;
    total += Math.abs(step);
  }
  if (net === 0) return null;
  const sureness = views.reduce((sum, { confidence }) => sum + confidence, 0) / views.length;
  return {
    direction: net > 0 ? 'clockwise' : 'counterclockwise',
    degrees: Math.abs(net) * STEP_DEGREES,
    confidence: sureness * (Math.abs(net) / total),
  };
}

/** From −3 to 3. Opposite views return 0: neither way is shorter. */
function stepsBetween(from: CompassView, to: CompassView): number {
  const around = COMPASS_VIEWS.length;
  const steps = (COMPASS_VIEWS.indexOf(to) - COMPASS_VIEWS.indexOf(from) + around) % around;
  if (steps === around / 2) return 0;
  return steps < around / 2 ? steps : steps - around;
}

/** How long each view is visible. Every frame counts for the time until the next one. */
export function seenMs(sightings: readonly Sighting[], frameDistanceMs: number): Record<CompassView, number> {
  const counted = COMPASS_VIEWS.map((name) => {
    const frames = sightings.filter(({ view }) => view?.value === name).length;
    return [name, Math.round(frames * frameDistanceMs)] as const;
  });
  return Object.fromEntries(counted) as Record<CompassView, number>;
}

/** Merges neighbouring frames with the same issue into passages with their mean confidence, sorted by start. */
export function passagesOf(
  sightings: readonly Sighting[],
  { frameDistanceMs, durationMs }: { frameDistanceMs: number; durationMs: number },
): Passage[] {
  const reasons = new Set(sightings.flatMap(({ issues }) => issues.map(({ reason }) => reason)));
  return [...reasons]
    .flatMap((reason) => {
      const passages: { from_ms: number; to_ms: number; confidences: number[] }[] = [];
      let isOpen = false;
      for (const { timeOffsetMs, issues } of sightings) {
        const issue = issues.find((each) => each.reason === reason);
        const to_ms = Math.min(durationMs, Math.round(timeOffsetMs + frameDistanceMs));
        const last = passages.at(-1);
        if (!issue) isOpen = false;
        else if (isOpen && last) {
          last.to_ms = to_ms;
          last.confidences.push(issue.confidence);
        } else {
          passages.push({ from_ms: timeOffsetMs, to_ms, confidences: [issue.confidence] });
          isOpen = true;
        }
      }
      return passages.map(({ from_ms, to_ms, confidences }) => ({
        reason,
        confidence: confidences.reduce((sum, each) => sum + each, 0) / confidences.length,
        from_ms,
        to_ms,
      }));
    })
    .toSorted((a, b) => a.from_ms - b.from_ms);
}

/** A candidate for a key frame of its view. */
export interface Candidate {
  view: CompassView;
  timeOffsetMs: number;
  /** Higher is better. */
  score: number;
}

/** Two key frames of one view that are closer than this show the same. */
const LEAST_GAP_MS = 1_000;

/**
 * Keeps the best frames of a view, spread over the video: the candidate replaces worse frames near it, or the worst frame
 * once `wanted` frames are kept.
 */
export function withCandidate<Item extends Candidate>(kept: readonly Item[], candidate: Item, wanted: number): Item[] {
  const isNear = (other: Item) => Math.abs(other.timeOffsetMs - candidate.timeOffsetMs) < LEAST_GAP_MS;
  const rivals = kept.filter(isNear);
  if (rivals.some(({ score }) => score >= candidate.score)) return [...kept];
  const others = [...kept.filter((other) => !isNear(other)), candidate];
  return others.toSorted((a, b) => b.score - a.score).slice(0, wanted);
}
