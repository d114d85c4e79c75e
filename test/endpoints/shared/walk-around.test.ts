import { describe, expect, test } from 'vitest';
import {
  type CompassView,
  passagesOf,
  type Sighting,
  seenMs,
  walkOf,
  withCandidate,
} from '../../../src/endpoints/shared/walk-around.ts';

const sightings = (...views: (CompassView | null)[]): Sighting[] =>
  views.map((value, index) => ({
    timeOffsetMs: index * 500,
    view: value && { value, confidence: 0.8 },
    issues: [],
  }));

describe('the walk', () => {
  test('a walk once around by the right side is clockwise', () => {
    const around = sightings(
      'front',
      'front_right',
      'right',
      'rear_right',
      'rear',
      'rear_left',
      'left',
      'front_left',
      'front',
    );
    expect(walkOf(around)).toEqual({ direction: 'clockwise', degrees: 360, confidence: expect.closeTo(0.8) });
    expect(walkOf(around.toReversed())).toMatchObject({ direction: 'counterclockwise', degrees: 360 });
  });

  test('opposite directions of a walk cancel out and lower the confidence', () => {
    const walk = walkOf(sightings('front', 'front_right', 'front', 'front_right', 'right'));
    expect(walk).toEqual({ direction: 'clockwise', degrees: 90, confidence: expect.closeTo(0.8 * (2 / 4)) });
  });

  test('a frame without a vehicle does not count as a step of the walk', () => {
    expect(walkOf(sightings('left', null, null, 'front_left'))).toMatchObject({ direction: 'clockwise', degrees: 45 });
  });

  test.each([
    { what: 'for one view', views: ['front', 'front'] as CompassView[] },
    { what: 'without views', views: [] },
    { what: 'between opposite sides', views: ['front', 'rear'] as CompassView[] },
  ])('the walk is null $what', ({ views }) => {
    expect(walkOf(sightings(...views))).toBeNull();
  });
});

test('the frames of a view measure how long it is visible', () => {
  expect(seenMs(sightings('front', 'front', null, 'rear'), 500)).toMatchObject({ front: 1_000, rear: 500, left: 0 });
});

test('neighbouring frames with one issue merge into a passage', () => {
  const dark = (confidence: number) => ({ reason: 'too_dark' as const, confidence });
  const frames: Sighting[] = [[dark(0.6)], [dark(0.8)], [], [dark(0.9)]].map((issues, index) => ({
    timeOffsetMs: index * 500,
    view: null,
    issues,
  }));
  expect(passagesOf(frames, { frameDistanceMs: 500, durationMs: 1_800 })).toEqual([
    { reason: 'too_dark', confidence: expect.closeTo(0.7), from_ms: 0, to_ms: 1_000 },
    { reason: 'too_dark', confidence: 0.9, from_ms: 1_500, to_ms: 1_800 },
  ]);
});

describe('candidates of a view', () => {
  const candidate = (timeOffsetMs: number, score: number) => ({ view: 'front' as const, timeOffsetMs, score });
  const chosen = (wanted: number, ...items: ReturnType<typeof candidate>[]) => {
    let kept: typeof items = [];
    for (const item of items) kept = withCandidate(kept, item, wanted);
    return kept.map(({ timeOffsetMs }) => timeOffsetMs).toSorted((a, b) => a - b);
  };

  test('a view keeps its best candidates, up to the requested number', () => {
    expect(chosen(1, candidate(0, 1), candidate(5_000, 3), candidate(9_000, 2))).toEqual([5_000]);
    expect(chosen(2, candidate(0, 1), candidate(5_000, 3), candidate(9_000, 2))).toEqual([5_000, 9_000]);
  });

  test('a view does not keep two near-identical frames, even if both are among the best', () => {
    expect(chosen(2, candidate(0, 1), candidate(5_000, 3), candidate(5_250, 2.9))).toEqual([0, 5_000]);
    expect(chosen(2, candidate(0, 1), candidate(5_000, 3), candidate(5_250, 3.1))).toEqual([0, 5_250]);
  });
});
