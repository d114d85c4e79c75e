/** Soft edges keep the subject's colour and lose that of the old background. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { removeSpill } from '../../../../src/inference/toolkit/images/foreground-colours.ts';

const [WIDTH, HEIGHT, MIDDLE] = [160, 60, 80];

/** A subject on the left, something else on the right, and between them an edge `soft` pixels wide, as a camera mixes both. */
function mixed(subject: readonly number[], behind: readonly number[], soft: number) {
  const matte = new Uint8Array(WIDTH * HEIGHT);
  const truth = new Uint8Array(WIDTH * HEIGHT * 3);
  const pixels = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const pixel = y * WIDTH + x;
      const share = Math.min(1, Math.max(0, 0.5 + (MIDDLE - x - 0.5) / soft));
      matte[pixel] = Math.round(share * 255);
      for (let channel = 0; channel < 3; channel += 1) {
        // The subject is shaded from top to bottom.
        const own = (subject[channel] ?? 0) * (0.8 + (0.2 * y) / HEIGHT);
        truth[pixel * 3 + channel] = Math.round(own);
        pixels[pixel * 3 + channel] = Math.round(own * share + (behind[channel] ?? 0) * (1 - share));
      }
    }
  }
  return { matte, truth, picture: { width: WIDTH, height: HEIGHT, pixels } };
}

const whole = { left: 0, top: 0, width: WIDTH, height: HEIGHT };
const colour = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));

function errorAtEdge(pixels: Uint8Array, truth: Uint8Array, matte: Uint8Array): number {
  const soft = [...matte.keys()].filter((pixel) => (matte[pixel] ?? 0) > 40 && (matte[pixel] ?? 0) < 255);
  const gaps = soft.flatMap((pixel) =>
    [0, 1, 2].map((channel) => Math.abs((pixels[pixel * 3 + channel] ?? 0) - (truth[pixel * 3 + channel] ?? 0))),
  );
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
}

test('whatever both colours are, a soft edge comes close to that of the subject', () => {
  fc.assert(
    fc.property(colour, colour, fc.integer({ min: 4, max: 16 }), (subject, behind, soft) => {
      const { matte, truth, picture } = mixed(subject, behind, soft);
      const before = errorAtEdge(picture.pixels, truth, matte);
      removeSpill(picture, matte, whole);
      const after = errorAtEdge(picture.pixels, truth, matte);
      expect(after).toBeLessThanOrEqual(Math.max(3, before / 3));
    }),
    { numRuns: 40 },
  );
});

test('opaque and clear pixels stay as they are, and so does everything outside the area', () => {
  const { matte, picture } = mixed([30, 60, 200], [250, 250, 240], 10);
  const before = picture.pixels.slice();
  removeSpill(picture, matte, { left: 0, top: 10, width: WIDTH, height: 20 });
  const changed = [...picture.pixels.keys()].filter((index) => picture.pixels[index] !== before[index]);
  expect(changed.length).toBeGreaterThan(0);
  const elsewhere = changed.filter((index) => {
    const pixel = Math.floor(index / 3);
    const row = Math.floor(pixel / WIDTH);
    const opacity = matte[pixel] ?? 0;
    return opacity === 0 || opacity === 255 || row < 10 || row >= 30;
  });
  expect(elsewhere).toEqual([]);
});

test('a picture without any subject stays as it is', () => {
  const { picture } = mixed([0, 0, 0], [200, 10, 10], 4);
  const before = picture.pixels.slice();
  removeSpill(picture, new Uint8Array(WIDTH * HEIGHT), whole);
  expect(picture.pixels).toEqual(before);
});
