import { expect, test } from 'vitest';
import { decodeCtc, weakestCharacter } from '../../../../src/inference/toolkit/decoding/ctc.ts';

const LABELS = ['<blank>', 'a', 'b'];

/** Steps that each spell a label with a probability; the rest is shared by the others. */
function steps(...path: [label: number, probability: number][]) {
  const rows = path.map(([label, probability]) =>
    LABELS.map((_, index) => Math.log(index === label ? probability : (1 - probability) / 2)),
  );
  return { data: Float32Array.from(rows.flat()), shape: [1, path.length, LABELS.length] };
}

test('repeats of a label are one character', () => {
  expect(decodeCtc(steps([1, 0.9], [1, 0.9], [2, 0.9]), LABELS, 0).text).toBe('ab');
});

test('a blank between two equal labels keeps both', () => {
  expect(decodeCtc(steps([1, 0.9], [0, 0.9], [1, 0.9]), LABELS, 0).text).toBe('aa');
});

test('only blanks spell an empty line with a confidence of 0', () => {
  const line = decodeCtc(steps([0, 0.9], [0, 0.9]), LABELS, 0);
  expect(line).toEqual({ text: '', characters: [] });
  expect(weakestCharacter(line)).toBe(0);
});

test("a character's probability is the highest of its run, a line's that of its weakest character", () => {
  const line = decodeCtc(steps([1, 0.6], [1, 0.95], [0, 0.5], [2, 0.75]), LABELS, 0);
  expect(line.characters.map(({ probability }) => Math.round(probability * 1000) / 1000)).toEqual([0.95, 0.75]);
  expect(weakestCharacter(line)).toBeCloseTo(0.75, 5);
});

test('labels that do not fit the network are refused', () => {
  expect(() => decodeCtc(steps([1, 0.9]), ['<blank>', 'a'], 0)).toThrow('3 classes, its labels are 2');
});

test("a character states its run's place and its alternatives at the most probable step", () => {
  const line = decodeCtc(steps([0, 0.9], [1, 0.6], [1, 0.9], [0, 0.5], [2, 0.75]), LABELS, 0);
  expect(line.characters).toEqual([
    {
      character: 'a',
      probability: expect.closeTo(0.9, 5),
      from: 0.2,
      to: 0.6,
      others: [{ character: 'b', probability: expect.closeTo(0.05, 5) }],
    },
    {
      character: 'b',
      probability: expect.closeTo(0.75, 5),
      from: 0.8,
      to: 1,
      others: [{ character: 'a', probability: expect.closeTo(0.125, 5) }],
    },
  ]);
});

test('a character lists its five most probable alternatives, best first', () => {
  const labels = ['', ...Array.from('abcdefgh')];
  const data = Float32Array.from([0.01, 0.3, 0.02, 0.2, 0.05, 0.1, 0.15, 0.03, 0.14], Math.log);
  const [only] = decodeCtc({ data, shape: [1, labels.length] }, labels, 0).characters;
  expect(only?.others.map(({ character }) => character).join('')).toBe('cfhed');
});
