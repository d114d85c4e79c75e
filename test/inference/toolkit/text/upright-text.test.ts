/** Pictures of print that lie on their side or upside down. */
import { expect, test } from 'vitest';
import type { ModelInputs } from '../../../../src/inference/models/model.ts';
import { createPageReader } from '../../../../src/inference/toolkit/text/upright-text.ts';
import { lineAt, modelSeeing, readerSaying, type Said, spelt } from '../../support/print-saying.ts';
import { picture } from '../../support/saying-model.ts';

const SIDE = 64;
const horizontal = lineAt(4, 8, 56, 6);
const vertical = lineAt(8, 4, 8, 56);

async function read(lines: readonly ReturnType<typeof lineAt>[], said: readonly (readonly Said[])[]) {
  const asked: ModelInputs[] = [];
  const { lines: printed } = await createPageReader(modelSeeing(lines, readerSaying(said, asked)))(picture);
  return {
    texts: printed.map(({ characters }) => characters.map(({ character }) => character).join('')),
    corners: printed.map(({ quad }) => quad.map(({ x, y }) => [Math.round(x), Math.round(y)])),
    firstOf: printed.map(({ characters }) => characters[0]?.quad[0]),
    asked,
  };
}

test('an upright picture with certain print is read once', async () => {
  const { texts, asked } = await read([horizontal], [spelt('UPRIGHT', 0.99)]);
  expect(texts).toEqual(['UPRIGHT']);
  expect(asked).toHaveLength(1);
});

test('a picture whose lines run downwards is turned and read again, with the places of the picture as it was sent', async () => {
  // A vertical line is read down and up; the turned picture is seen to have it at the same place.
  const { texts, corners, asked } = await read(
    [vertical],
    [spelt('SIDEWAYS', 0.99), spelt('X', 0.3), spelt('TURNED', 0.99), spelt('X', 0.3)],
  );
  expect(texts).toEqual(['TURNED']);
  expect(asked).toHaveLength(4);
  // The turned picture's top is the right side of the one sent: (x, y) was at (side − y, x).
  expect(corners).toEqual([
    [
      [SIDE - 4, 16],
      [SIDE - 60, 16],
      [SIDE - 60, 8],
      [SIDE - 4, 8],
    ],
  ]);
});

test('a picture whose lines run upwards is turned the other way', async () => {
  const { texts, corners } = await read(
    [vertical],
    [spelt('X', 0.3), spelt('SIDEWAYS', 0.99), spelt('TURNED', 0.99), spelt('X', 0.3)],
  );
  expect(texts).toEqual(['TURNED']);
  // (x, y) of the turned picture was at (y, side − x).
  expect(corners[0]?.[0]).toEqual([4, SIDE - 16]);
});

test('a doubtful picture is also read upside down, and the surer reading counts', async () => {
  const { texts, corners, firstOf } = await read([horizontal], [spelt('SNMOD', 0.85), spelt('DOWNS', 0.99)]);
  expect(texts).toEqual(['DOWNS']);
  expect(corners[0]).toEqual([
    [SIDE - 4, SIDE - 8],
    [SIDE - 60, SIDE - 8],
    [SIDE - 60, SIDE - 14],
    [SIDE - 4, SIDE - 14],
  ]);
  expect(firstOf[0]?.x).toBeGreaterThan(SIDE / 2);
});

test('a doubtful picture stays as it was sent if upside down it is no surer', async () => {
  const { texts, corners, asked } = await read([horizontal], [spelt('BLURRED', 0.85), spelt('OEJJNLB', 0.82)]);
  expect(texts).toEqual(['BLURRED']);
  expect(asked).toHaveLength(2);
  expect(corners[0]?.[0]).toEqual([4, 8]);
});

test('short lines do not turn a picture: they can look alike in several directions', async () => {
  const { texts, asked } = await read(
    [horizontal, vertical],
    // The larger box, the vertical one, is asked for first, and upwards after the other.
    [spelt('IOI', 0.99), spelt('UPRIGHT', 0.99), spelt('X', 0.3)],
  );
  expect(texts.toSorted()).toEqual(['IOI', 'UPRIGHT']);
  expect(asked).toHaveLength(3);
});

test('a picture without print is read once', async () => {
  expect((await read([], [])).texts).toEqual([]);
});
