/** What the components make of results. */
import { describe, expect, it } from 'vitest';
import type { Result as Placed } from '../../src/endpoints/render.hotspots/result.ts';
import type { Result as Shown } from '../../src/endpoints/viewer.hotspots/result.ts';
import {
  loadingOrder,
  readHotspots,
  readSpin,
  shortestWay,
  UnknownResultError,
} from '../../viewer/src/read-results.ts';
import { fixtureOf } from '../support/example-pictures.ts';

const frame = (index: number, url: unknown = `https://api.example/${index}.jpg`) => ({
  index,
  image: { object: 'artefact', url, width: 480, height: 320 },
  view: 'front',
  azimuth_degrees: index * 40,
});
const frames = [frame(0), frame(1)];

describe('a spin', () => {
  it('a spin has its frames, its size and the frame to begin with, from a result or its job', () => {
    const result = { frames, start_frame_index: 1 };
    const spin = {
      frames: [
        { url: 'https://api.example/0.jpg', azimuthDegrees: 0, view: 'front' },
        { url: 'https://api.example/1.jpg', azimuthDegrees: 40, view: 'front' },
      ],
      startIndex: 1,
      width: 480,
      height: 320,
    };
    expect(readSpin(result)).toEqual(spin);
    expect(readSpin({ object: 'job', status: 'succeeded', result })).toEqual(spin);
  });

  it('a spin begins with a frame that it has', () => {
    for (const start_frame_index of [9, 1.5, undefined, -1, Number.NaN]) {
      expect([0, 1]).toContain(readSpin({ frames, start_frame_index }).startIndex);
    }
  });

  it.each([
    ['nothing', null],
    ['text', 'a spin'],
    ['no frames', { frames: [] }],
    ['a job that failed', { object: 'job', result: null }],
    ['a frame without a picture', { frames: [frame(0), { index: 1 }] }],
    ['an address that runs', { frames: [frame(0, 'javascript:alert(1)')] }],
  ])('a spin is not made of %s', (_, value) => {
    expect(() => readSpin(value)).toThrow(UnknownResultError);
  });
});

describe('hotspots', () => {
  const placed = fixtureOf<Placed>('render.hotspots');
  const shown = fixtureOf<Shown>('viewer.hotspots');

  it('hotspots of either endpoint are the same', () => {
    expect(readHotspots(placed)).toEqual(readHotspots(shown));
  });

  it('hotspots are where the result says, and best where it says', () => {
    const read = readHotspots(shown);
    expect(read.map(({ id, label, bestIndex }) => ({ id, label, best_frame_index: bestIndex }))).toEqual(
      shown.hotspots.map(({ id, label, best_frame_index }) => ({ id, label, best_frame_index })),
    );
    for (const { frame_index, hotspots } of shown.frames) {
      for (const { hotspot_id, x_normalized: x, y_normalized: y, prominence } of hotspots) {
        expect(read.find(({ id }) => id === hotspot_id)?.places.get(frame_index)).toEqual({ x, y, prominence });
      }
    }
  });

  it('hotspots of no frame are left out', () => {
    expect(readHotspots({ hotspots: [{ id: 'hotspot_1', placements: [] }] })).toEqual([]);
  });

  it('hotspots are not made of another result', () => {
    expect(() => readHotspots({ frames })).toThrow(UnknownResultError);
  });
});

describe('the way to a frame', () => {
  it.each([
    [0, 1, 8, 1],
    [0, 7, 8, -1],
    [7, 0, 8, 1],
    [1, 6, 8, -3],
    [0, 4, 8, 4],
    [3, 3, 8, 0],
  ])('the way from frame %d to frame %d of %d is %d steps', (from, to, of, way) => {
    expect(shortestWay(from, to, of)).toBe(way);
  });
});

it('the viewer loads the frame that shows, then coarse steps, and each frame once', () => {
  const order = loadingOrder(20, 3);
  expect(order.slice(0, 5)).toEqual([3, 11, 19, 7, 15]);
  expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(loadingOrder(1, 0)).toEqual([0]);
});
