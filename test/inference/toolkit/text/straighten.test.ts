import { expect, test } from 'vitest';
import { growQuad, pieceOfQuad, straighten } from '../../../../src/inference/toolkit/text/straighten.ts';
import { lineAt } from '../../support/print-saying.ts';

const quadAt = (...box: Parameters<typeof lineAt>) =>
  growQuad(
    lineAt(...box).map(([x, y]) => ({ x, y })),
    0,
    0,
  );
const blank = (width: number, height: number) => ({ width, height, pixels: new Uint8Array(width * height * 3) });

test('a straightened quadrilateral keeps its size in the picture', () => {
  expect(straighten(blank(64, 64), quadAt(4, 4, 40, 10))).toMatchObject({ width: 40, height: 10 });
});

test('a long quadrilateral is shrunk with its proportions kept', () => {
  expect(straighten(blank(5000, 200), quadAt(0, 0, 4096, 100))).toMatchObject({ width: 2048, height: 50 });
});

test('a straightened quadrilateral is at least one pixel high', () => {
  expect(straighten(blank(64, 64), quadAt(4, 4, 40, 0))).toMatchObject({ width: 40, height: 1 });
});

test('a piece of a quadrilateral lies between shares of its upper and lower edge', () => {
  const corners = [
    { x: 0, y: 0 },
    { x: 10, y: 2 },
    { x: 10, y: 6 },
    { x: 0, y: 8 },
  ];
  expect(pieceOfQuad(corners, 0.5, 1)).toEqual([
    { x: 5, y: 1 },
    { x: 10, y: 2 },
    { x: 10, y: 6 },
    { x: 5, y: 7 },
  ]);
  expect(() => growQuad(corners.slice(1), 0, 0)).toThrow('has four corners, not 3');
});
