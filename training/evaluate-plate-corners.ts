/**
 * Whether the corners of plates are where they were marked by eye in `labels/plate-corners.json`, as the detector of `plate.read` finds
 * them, and as `render.plate` moves them to the edges in the picture. Prints the mean IoU and the mean distance of corners in heights of the
 * plate.
 *
 *     node training/evaluate-plate-corners.ts --photographs FOLDER [--models FOLDER]
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Point } from '../src/inference/toolkit/decoding/detections.ts';
import { boxAround } from '../src/inference/toolkit/decoding/rotated-boxes.ts';
import { fitQuad } from '../src/inference/toolkit/detection/fit-quad.ts';
import { createPlateCandidateFinder } from '../src/inference/toolkit/detection/plates.ts';
import { decodeImage } from '../src/inference/toolkit/images/decode-image.ts';
import { distance, growQuad } from '../src/inference/toolkit/text/straighten.ts';
import { openProduct } from './evaluate-readers.ts';

/** Places along each side of the area of two plates at which they are compared. */
const PLACES = 100;

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    photographs: { type: 'string' },
  },
});
const { photographs } = options;
if (photographs === undefined) throw new Error('--photographs names the folder of the photographs');

type Corners = [number, number][];
const labels = JSON.parse(await readFile(new URL('labels/plate-corners.json', import.meta.url), 'utf8')) as Record<
  string,
  Corners
>;
const open = await openProduct(options.models);
const find = createPlateCandidateFinder((await open('plate.read')).model);
const sums = { found: { overlap: 0, apart: 0 }, fitted: { overlap: 0, apart: 0 } };
let count = 0;
for (const [name, corners] of Object.entries(labels)) {
  const marked = corners.map(([x, y]): Point => ({ x, y }));
  const picture = await decodeImage(await readFile(join(photographs, name)));
  const candidates = (await find(picture)).map((each) => growQuad(each.corners, 0, 0));
  const [found] = candidates.toSorted((a, b) => overlapOf(b, marked) - overlapOf(a, marked));
  if (!found || overlapOf(found, marked) === 0) {
    console.log(`${name}: not found`);
    continue;
  }
  count += 1;
  const ways = [
    ['found', found],
    ['fitted', fitQuad(picture, found)],
  ] as const;
  for (const [way, quad] of ways) {
    sums[way].overlap += overlapOf(quad, marked);
    sums[way].apart += apartOf(quad, marked);
  }
}
for (const [way, { overlap, apart }] of Object.entries(sums)) {
  console.log(
    `${way}: IoU ${(overlap / count).toFixed(3)}, corners ${(apart / count).toFixed(3)} heights away, of ${count} plates`,
  );
}

function overlapOf(one: readonly Point[], other: readonly Point[]): number {
  const { x0, y0, x1, y1 } = boxAround([...one, ...other]);
  let [both, either] = [0, 0];
  for (let index = 0; index < PLACES ** 2; index += 1) {
    const x = x0 + (((index % PLACES) + 0.5) / PLACES) * (x1 - x0);
    const y = y0 + ((Math.floor(index / PLACES) + 0.5) / PLACES) * (y1 - y0);
    const [first, second] = [isWithin(one, x, y), isWithin(other, x, y)];
    if (first && second) both += 1;
    if (first || second) either += 1;
  }
  return both / either;
}

/** @param corners of a convex outline, clockwise on the screen */
function isWithin(corners: readonly Point[], x: number, y: number): boolean {
  return corners.every((from, index) => {
    const to = corners[(index + 1) % corners.length] ?? from;
    return (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x) >= 0;
  });
}

function apartOf(quad: readonly Point[], marked: readonly Point[]): number {
  const [a, b, c, d] = growQuad(marked, 0, 0);
  const height = (distance(a, d) + distance(b, c)) / 2;
  const sum = quad.reduce((total, corner, index) => total + distance(corner, marked[index] ?? corner), 0);
  return sum / quad.length / height;
}
