/** Where pictures were taken, by their views and by the order of their files. */
import { describe, expect, it } from 'vitest';
import { orderFrames } from '../../../../src/endpoints/shared/frames/order-frames.ts';
import { degreesBetween } from '../../../../src/endpoints/shared/spin-set-frames.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

/** A classifier that is as sure as it can be of eight views: it shares a picture between the two nearest ones. */
const viewed = (azimuth: number, sureness = 0.9) =>
  Array.from(
    { length: 8 },
    (_, view) => sureness * Math.max(0, 1 - degreesBetween(view * 45, azimuth) / 45) + (1 - sureness) / 8,
  );
/** Only the nearest view, as a hard choice tells it. */
const named = (azimuth: number) =>
  Array.from({ length: 8 }, (_, view) => (Math.round(azimuth / 45) % 8 === view ? 0.95 : 0.05 / 7));

const around = (count: number, start = 10) =>
  Array.from({ length: count }, (_, index) => (start + (index * 360) / count) % 360);
const errorsOf = (azimuths: readonly number[], pictures: readonly (readonly number[])[]) =>
  orderFrames(pictures).frames.map(({ azimuthDegrees }, index) => degreesBetween(azimuthDegrees, azimuths[index] ?? 0));

describe('a walk in the order of the files', () => {
  it.each([
    ['clockwise', around(36)],
    ['counterclockwise', around(36).toReversed()],
    ['of half the circle', around(36).slice(0, 18)],
  ])('a walk %s is recognised, and tells pictures of one view apart', (_, azimuths) => {
    const pictures = azimuths.map(named);
    expect(orderFrames(pictures).isWalk).toBe(true);
    const found = orderFrames(pictures).frames.map(({ azimuthDegrees }) => azimuthDegrees);
    const turns = found.slice(1).map((azimuth, index) => ((azimuth - (found[index] ?? 0) + 540) % 360) - 180);
    const direction = azimuths[1] === (azimuths[0] ?? 0) + 10 ? 1 : -1;
    expect(turns.every((turn) => turn * direction >= 0)).toBe(true);
    expect(Math.max(...errorsOf(azimuths, pictures))).toBeLessThanOrEqual(23);
  });

  it('a walk survives a picture that is taken for the opposite view', () => {
    const azimuths = around(24);
    const pictures = azimuths.map((azimuth, index) => viewed(index === 9 ? (azimuth + 180) % 360 : azimuth));
    const { isWalk, frames } = orderFrames(pictures);
    expect(isWalk).toBe(true);
    expect(degreesBetween(frames[9]?.azimuthDegrees ?? 0, azimuths[9] ?? 0)).toBeLessThan(25);
    // It is where its neighbours are, but nothing in it says so.
    expect(frames[9]?.confidence).toBeLessThan(0.2);
    expect(frames[10]?.confidence).toBeGreaterThan(0.8);
  });

  it('a walk may go round more than once', () => {
    const azimuths = [...around(16), ...around(16, 15)];
    expect(orderFrames(azimuths.map((azimuth) => viewed(azimuth))).isWalk).toBe(true);
  });
});

describe('pictures in any order', () => {
  it('eight pictures of which two are exchanged are no walk, and are where their own views say', () => {
    const azimuths = [316, 2, 44, 137, 91, 179, 226, 268];
    const pictures = azimuths.map(named);
    expect(orderFrames(pictures).isWalk).toBe(false);
    expect(Math.max(...errorsOf(azimuths, pictures))).toBeLessThan(5);
  });

  it('pictures in any order are where their own views say', () => {
    const random = new SeededRandom(7);
    const azimuths = around(24)
      .map((azimuth) => ({ azimuth, key: random.fraction() }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ azimuth }) => azimuth);
    const pictures = azimuths.map((azimuth) => viewed(azimuth));
    expect(orderFrames(pictures).isWalk).toBe(false);
    expect(Math.max(...errorsOf(azimuths, pictures))).toBeLessThan(8);
  });

  it('one or two pictures are no walk', () => {
    expect(orderFrames([viewed(90)])).toEqual({
      isWalk: false,
      frames: [{ azimuthDegrees: 90, confidence: expect.any(Number) }],
    });
    expect(orderFrames([viewed(90), viewed(100)]).isWalk).toBe(false);
    expect(orderFrames([]).frames).toEqual([]);
  });
});

it('ordered frames have directions from 0 to below 360, and confidences from 0 to 1', () => {
  const random = new SeededRandom(3);
  for (let run = 0; run < 50; run += 1) {
    const pictures = Array.from({ length: 1 + Math.floor(random.fraction() * 12) }, () =>
      viewed(random.fraction() * 360, random.fraction()),
    );
    for (const { azimuthDegrees, confidence } of orderFrames(pictures).frames) {
      expect(azimuthDegrees).toBeGreaterThanOrEqual(0);
      expect(azimuthDegrees).toBeLessThan(360);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  }
});
