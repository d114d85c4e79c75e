import { expect, test } from 'vitest';
import { asOneOf, boxOf, joinRows, quadOf, weakestOf } from '../../../../src/inference/toolkit/text/print-rows.ts';
import type { PrintedLine } from '../../../../src/inference/toolkit/text/text-lines.ts';
import { printedAt, type Said, spelt } from '../../support/print-saying.ts';

const textsOf = (lines: readonly PrintedLine[]) => joinRows(lines).map(({ text }) => text);

test('neighbouring pieces are joined into one row, left to right, with a space between them', () => {
  const lines = [printedAt(8, 0, spelt('91V')), printedAt(0, 0, spelt('205/55')), printedAt(0, 4, spelt('XL'))];
  expect(textsOf(lines)).toEqual(['205/55 91V', 'XL']);
});

test.each([
  ['too far apart', printedAt(6, 0, spelt('B'))],
  ['of another height', printedAt(3, 0, spelt('B'), 3.2)],
  ['a line below', printedAt(3, 0.8, spelt('B'))],
  ['one above the other', printedAt(0.5, 0, spelt('B'))],
])('pieces that are %s are two rows', (_, other) => {
  expect(textsOf([printedAt(0, 0, spelt('AA')), other])).toEqual(['AA', 'B']);
});

test('pieces along a rising row are joined, and no pieces of another direction', () => {
  const turned = (line: PrintedLine, angle: number): PrintedLine => {
    const turn = ({ x, y }: { x: number; y: number }) => ({
      x: x * Math.cos(angle) - y * Math.sin(angle),
      y: x * Math.sin(angle) + y * Math.cos(angle),
    });
    const [a, b, c, d] = line.quad;
    return { ...line, quad: [turn(a), turn(b), turn(c), turn(d)] };
  };
  const [first, second] = [printedAt(0, 0, spelt('AAAA')), printedAt(5, 0, spelt('BBBB'))];
  expect(textsOf([turned(first, -0.4), turned(second, -0.4)])).toEqual(['AAAA BBBB']);
  expect(textsOf([first, turned(second, 0.4)])).toHaveLength(2);
});

test('a row goes on with the nearer of two pieces', () => {
  const [start, near, far] = [printedAt(0, 0, spelt('A')), printedAt(2, 0, spelt('B')), printedAt(3.5, 0, spelt('C'))];
  expect(textsOf([start, far, near])).toEqual(['A B C']);
});

test('pieces at the same place are separate rows, not a cycle', () => {
  expect(textsOf([printedAt(0, 0, spelt('1')), printedAt(0, 0, spelt('I'))])).toEqual(['1', 'I']);
});

test('a character outside the basic plane counts as one', () => {
  const [row] = joinRows([printedAt(0, 0, [{ character: '𣇉', probability: 0.9 }, ...spelt('A')])]);
  expect(row?.text).toBe('\uFFFDA');
  expect(row?.characters).toHaveLength(2);
});

test('characters lie in the box and between the edges of the first and the last', () => {
  const { characters } = printedAt(3, 5, spelt('ABC'));
  expect(boxOf(characters)).toEqual({ x0: 3, y0: 5, x1: 6, y1: 7 });
  expect(quadOf(characters.slice(1))).toEqual([
    { x: 4, y: 5 },
    { x: 6, y: 5 },
    { x: 6, y: 7 },
    { x: 4, y: 7 },
  ]);
  expect(weakestOf(characters)).toBe(0.9);
  expect(weakestOf([])).toBe(0);
});

const ALLOWED = new Set('ABCS01');
const asAllowed = (said: Said) => {
  const [character] = printedAt(0, 0, [said]).characters;
  return character && asOneOf(character, ALLOWED);
};

test('an allowed character is kept, and a small letter of the same shape read as its capital', () => {
  expect(asAllowed({ character: 'A', probability: 0.6, others: { B: 0.3 } })).toMatchObject({
    character: 'A',
    probability: 0.6,
  });
  expect(asAllowed({ character: 's', probability: 0.6, others: { S: 0.3 } })).toMatchObject({
    character: 'S',
    probability: expect.closeTo(0.9),
  });
});

test("a disallowed character becomes the most probable allowed one, with the network's probability", () => {
  const said = { character: 'O', probability: 0.9, others: { Q: 0.05, '0': 0.03, A: 0.01 } };
  expect(asAllowed(said)).toMatchObject({ character: '0', probability: 0.03 });
});

test('a small letter of another shape is not read as its capital', () => {
  const said = { character: 'b', probability: 0.9, others: { '0': 0.05, B: 0.02 } };
  expect(asAllowed(said)).toMatchObject({ character: '0', probability: 0.05 });
});

test('no character is returned when no alternative is allowed', () => {
  expect(asAllowed({ character: '*', probability: 0.9, others: { x: 0.1 } })).toBeUndefined();
});
