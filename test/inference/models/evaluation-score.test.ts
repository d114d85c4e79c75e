import { expect, test } from 'vitest';
import {
  editDistance,
  editsWithin,
  judge,
  judgeLines,
  reliabilityOf,
  tally,
  type Verdict,
  wilsonInterval,
} from '../../../training/evaluate-score.ts';

test('the Wilson interval is that of the textbook, and sound at the ends', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I.
  const { low, high } = wilsonInterval(81, 263);
  expect([low, high].map((value) => value.toFixed(4))).toEqual(['0.2553', '0.3662']);
  expect(wilsonInterval(0, 20).low).toBe(0);
  expect(wilsonInterval(0, 20).high).toBeCloseTo(0.1611, 4);
  expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
});

test('a reading is exact, wrong, of unknown characters, null or invented', () => {
  const shown = [
    { name: 'vin', text: 'ABC' },
    { name: 'size', text: '205/55R16' },
    { name: 'brand', text: 'PIRELLI' },
    { name: 'dot', text: 'DOT1' },
  ];
  const readings = [
    { name: 'vin', text: 'ABC', confidence: 0.9 },
    { name: 'size', text: '205/65R16', confidence: 0.8 },
    { name: 'dot', text: 'DO?1', confidence: 0 },
    { name: 'season', text: 'winter', confidence: 0.7 },
  ];
  const verdicts = judge(shown, readings);
  expect(verdicts.map(({ name, kind }) => [name, kind])).toEqual([
    ['vin', 'exact'],
    ['size', 'wrong'],
    ['dot', 'unknown'],
    ['brand', 'null'],
    ['season', 'invented'],
  ]);
  const { characterErrorRate, ...counts } = tally(verdicts);
  expect(counts).toEqual({ shown: 4, exact: 1, wrong: 1, unknown: 1, null: 1, invented: 1 });
  expect(characterErrorRate).toBeCloseTo((1 + 1 + 7) / (3 + 9 + 7 + 4));
});

test('each of several plates counts once, and another number is no misreading of it', () => {
  const plates = (...texts: string[]) => texts.map((text) => ({ name: 'plate', text, confidence: 1 }));
  const judged = judge(plates('AB12', 'CD34'), plates('CD35', 'AB12', 'XY99'), new Set(['plate']));
  expect(judged.map(({ kind }) => kind).toSorted()).toEqual(['exact', 'invented', 'wrong']);
  const missed = judge(plates('AB12'), plates('XY99'), new Set(['plate']));
  expect(missed.map(({ kind }) => kind)).toEqual(['null', 'invented']);
});

test('a value is among lines as whole words of one line, in any form in which it may be printed', () => {
  const kindOf = (text: string, lines: string[], printed?: string[]) =>
    judgeLines([{ name: 'value', text, ...(printed && { printed }) }], lines)[0]?.kind;
  expect(kindOf('AB123CD', ['RO', 'ab-123 cd'])).toBe('exact');
  expect(kindOf('AB123CD', ['ab-123', 'cd'])).toBe('null');
  expect(kindOf('AB123CD', ['1AB123CD'])).toBe('null');
  expect(kindOf('2024-03-05', ['I 05.03.2024'], ['05032024'])).toBe('exact');
  expect(kindOf('121087', ['121 087KM'])).toBe('exact');
  expect(kindOf('AB123CD', [])).toBe('null');
  expect(judgeLines([{ name: 'country', text: 'DE', printed: [] }], ['DE'])).toEqual([]);
});

test('edits are counted to a whole text, and to the most similar part of one', () => {
  expect(editDistance('KITTEN', 'SITTING')).toBe(3);
  expect(editDistance('', 'ABC')).toBe(3);
  expect(editsWithin('ABC', 'XXABDXX')).toBe(1);
  expect(editsWithin('ABC', '')).toBe(3);
});

test('confidences of 0.9 that are right nine times in ten have no calibration error', () => {
  const readings = (kind: Verdict['kind'], confidence: number | null, times: number) =>
    Array.from({ length: times }, (): Verdict => {
      return { name: '', kind, shown: '', read: '', confidence, characters: 1, edits: 0 };
    });
  const honest = reliabilityOf([...readings('exact', 0.9, 9), ...readings('wrong', 0.9, 1)]);
  expect(honest.expectedCalibrationError).toBeCloseTo(0);
  expect(honest.buckets).toEqual([{ from: 0.9, readings: 10, right: 9, meanConfidence: expect.closeTo(0.9) }]);
  const boastful = reliabilityOf([...readings('exact', 0.99, 5), ...readings('invented', 0.99, 5)]);
  expect(boastful.expectedCalibrationError).toBeCloseTo(0.49);
  // Neither a null nor a reading with unknown characters claims to be right.
  expect(reliabilityOf([...readings('unknown', 0, 3), ...readings('null', null, 3)]).buckets).toEqual([]);
});
