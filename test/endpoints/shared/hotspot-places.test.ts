/** Where a mark goes, and how squarely the camera sees it. */
import { describe, expect, it } from 'vitest';
import { azimuthOfView, middleOf, prominenceOf } from '../../../src/endpoints/shared/hotspot-places.ts';

const points = (...pairs: [number, number][]) => pairs.map(([x, y]) => ({ x, y }));

describe('the middle of an outline', () => {
  it('the middle of an outline is its centroid, in either direction round it', () => {
    const square = points([10, 10], [30, 10], [30, 20], [10, 20]);
    expect(middleOf(square)).toEqual({ x: 20, y: 15 });
    expect(middleOf(square.toReversed())).toEqual({ x: 20, y: 15 });
  });

  it('the middle of a bent shape lies inside it, in its widest stretch', () => {
    // A horseshoe, open upwards: its centroid is in the gap.
    const shoe = points([0, 0], [20, 0], [20, 80], [60, 80], [60, 0], [100, 0], [100, 90], [0, 90]);
    const { x, y } = middleOf(shoe);
    expect(y).toBeLessThan(80);
    expect(x).toBe(80);
  });

  it('the middle of an outline that encloses no area is the mean of its corners', () => {
    expect(middleOf(points([4, 6]))).toEqual({ x: 4, y: 6 });
    expect(middleOf(points([0, 5], [10, 5]))).toEqual({ x: 5, y: 5 });
  });
});

describe('prominence', () => {
  it.each([
    ['hood', 'none', 0, 1],
    ['hood', 'none', 60, 0.5],
    ['hood', 'none', 180, 0.05],
    ['rear_bumper', 'none', 180, 1],
    ['front_door', 'right', 90, 1],
    ['front_door', 'left', 270, 1],
    ['front_door', 'left', 90, 0.05],
    ['headlight', 'left', 330, 1],
    ['headlight', 'right', 30, 1],
    ['taillight', 'left', 210, 1],
    ['taillight', 'right', 150, 1],
    ['front_door', null, 90, 1],
    ['roof', 'none', 90, 1],
    [null, null, 90, 1],
    ['hood', 'none', null, 1],
  ])('the prominence of %s %s from %s° is %d', (part, side, azimuth, expected) => {
    expect(prominenceOf(part, side, azimuth)).toBe(expected);
  });
});

it('only compass views have an azimuth', () => {
  expect(['front', 'right', 'rear_left', 'dashboard', null].map(azimuthOfView)).toEqual([0, 90, 225, null, null]);
});
