import { expect, test } from 'vitest';
import type { Point } from '../../../../src/inference/toolkit/decoding/detections.ts';
import { layOut, outlineAround } from '../../../../src/inference/toolkit/text/page-layout.ts';
import type { PrintedLine } from '../../../../src/inference/toolkit/text/text-lines.ts';
import { printedAt, spelt } from '../../support/print-saying.ts';

/** Print whose points a camera moves. */
function seen(line: PrintedLine, move: (point: Point) => Point): PrintedLine {
  const [a, b, c, d] = line.quad.map(move) as [Point, Point, Point, Point];
  const characters = line.characters.map((each) => {
    const [e, f, g, h] = each.quad.map(move) as [Point, Point, Point, Point];
    return { ...each, quad: [e, f, g, h] as const };
  });
  return { quad: [a, b, c, d], characters };
}

const rotated =
  (degrees: number) =>
  ({ x, y }: Point): Point => {
    const [cosine, sine] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    return { x: 200 + x * cosine - y * sine, y: 200 + x * sine + y * cosine };
  };
/** The right side is further away: its rows converge. */
const inPerspective = ({ x, y }: Point): Point => ({ x: x / (1 + x / 400), y: 60 + (y - 60) / (1 + x / 400) });

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((row) => [
  printedAt(10, 15 * row, spelt('LABEL'), 4),
  printedAt(110, 15 * row, spelt('VALUE'), 4),
]);

test.each([
  ['upright', (point: Point) => point],
  ['turned a little', rotated(12)],
  ['sideways', rotated(90)],
  ['upside down', rotated(180)],
  ['in perspective', inPerspective],
])('rows are horizontal on the page: %s', (_, move) => {
  const layout = layOut(ROWS.map((line) => seen(line, move)));
  const heights = layout.lines.map(({ characters }) => layout.toPage(characters[0]?.quad[0] ?? { x: 0, y: 0 }).y);
  for (let row = 0; row < 8; row += 1) {
    const [left = 0, right = 0] = heights.slice(2 * row, 2 * row + 2);
    expect(Math.abs(left - right)).toBeLessThan(1);
  }
  expect(layout.lines.map(({ text }) => text)).toEqual(Array(8).fill(['LABEL', 'VALUE']).flat());
});

test.each([
  ['turned', rotated(25)],
  ['in perspective', inPerspective],
])('points of the page are mapped back to where they were: %s', (_, move) => {
  const { toPage, toPicture } = layOut(ROWS.map((line) => seen(line, move)));
  for (const point of [
    { x: 20, y: 30 },
    { x: 90, y: 100 },
    { x: 80, y: 20 },
  ]) {
    const back = toPicture(toPage(point));
    expect(Math.hypot(back.x - point.x, back.y - point.y)).toBeLessThan(0.5);
  }
});

test('an outline turns with the print, and ends with the picture', () => {
  const layout = layOut(ROWS.map((line) => seen(line, rotated(90))));
  const points = layout.printed.flatMap(({ quad }) => [...quad]);
  const outline = outlineAround(layout, points, { width: 400, height: 400 }, 2);
  // Its first corner is the top left of the page, at the right of the picture.
  expect(outline.map(({ x, y }) => [Math.round(x), Math.round(y)])).toEqual([
    [202, 208],
    [202, 317],
    [89, 317],
    [89, 208],
  ]);
  expect(outlineAround(layout, points, { width: 150, height: 250 })[1]).toEqual({ x: 150, y: 250 });
});
