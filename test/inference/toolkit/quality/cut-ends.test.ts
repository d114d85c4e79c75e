/** Which ends of lines of drawn print are marked. */
import { expect, test } from 'vitest';
import { markCutEnds } from '../../../../src/inference/toolkit/quality/cut-ends.ts';
import { croppedTo, exposed, glaring } from '../../../../training/degraded-pictures.ts';
import { type DrawnPrint, drawPrint } from '../../support/drawn-print.ts';

/** Places of the marked characters. */
function cutsOf({ picture, line }: DrawnPrint): number[] {
  const [marked] = markCutEnds(picture, [line]);
  return (marked?.characters ?? []).flatMap(({ isAtCut }, place) => (isAtCut ? [place] : []));
}

const good = drawPrint();
const LAST = good.line.characters.length - 1;
const [left, , right] = good.line.quad;
const beside = (x: number) => glaring(good.picture, { x, y: 60 }, 60);

test.each([
  ['dark on light', good],
  ['light on dark', drawPrint({ ink: 230, ground: 20 })],
  ['on paper as white as a scan', drawPrint({ ground: 255 })],
  ['in the shade', { ...good, picture: exposed(good.picture, -3) }],
])('print %s is whole', (_, drawn) => {
  expect(cutsOf(drawn)).toEqual([]);
});

test('print ends where light begins', () => {
  expect(cutsOf({ ...good, picture: beside(right.x + 30) })).toEqual([LAST]);
  expect(cutsOf({ ...good, picture: beside(left.x - 30) })).toEqual([0]);
});

test('light that lies elsewhere cuts nothing', () => {
  expect(cutsOf({ ...good, picture: beside(250) })).toEqual([]);
});

test('on white paper, print that fades ends in light, too', () => {
  const white = drawPrint({ ground: 255, ink: 60 });
  const picture = glaring(white.picture, { x: right.x + 30, y: 60 }, 70);
  expect(cutsOf({ ...white, picture })).toEqual([LAST]);
});

test('print ends where the picture does, but not along its edge', () => {
  const cut = { x0: 0, y0: 0, x1: right.x + 2, y1: 120 };
  expect(cutsOf({ ...good, picture: croppedTo(good.picture, cut) })).toEqual([LAST]);
  const low = { x0: 0, y0: 0, x1: 500, y1: good.line.quad[2].y };
  expect(cutsOf({ ...good, picture: croppedTo(good.picture, low) })).toEqual([]);
});
