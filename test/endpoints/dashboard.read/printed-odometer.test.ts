import { describe, expect, it } from 'vitest';
import {
  ENOUGH_EVIDENCE,
  findPrintedOdometers,
  hasClusterWord,
  hasScale,
} from '../../../src/endpoints/dashboard.read/printed-odometer.ts';
import { printedAt, spelt } from '../../inference/support/print-saying.ts';

/** Lines far from each other, unless a place is given. */
function lines(...texts: (string | [text: string, x: number, y: number])[]) {
  return texts.map((each, index) => {
    const [text, x, y] = typeof each === 'string' ? [each, 0, 100 * index] : each;
    return printedAt(x, y, spelt(text));
  });
}

function readings(...texts: Parameters<typeof lines>) {
  return findPrintedOdometers(lines(...texts), []).filter(({ evidence }) => evidence >= ENOUGH_EVIDENCE);
}

it.each([
  ['000820miles', 820, 'mi'],
  ['006416 miles', 6_416, 'mi'],
  ['98F 001893miles', 1_893, 'mi'],
  ['106655', 106_655, null],
  ['261,645 km', 261_645, 'km'],
  ['63.008miles', 63_008, 'mi'],
  ['893 303mi', 893_303, 'mi'],
  ["121'087 km", 121_087, 'km'],
  ['ODO 8237', 8_237, null],
  ['5140mi', 5_140, 'mi'],
])('%j is an odometer', (text, value, unit) => {
  expect(readings(text)).toMatchObject([{ value, unit }]);
});

it.each([
  ['a trip', '96.4'],
  ['a long trip', '1065.0'],
  ['a named trip', 'TRIP A 1234 km'],
  ['a range', '310 km'],
  ['a named range', 'Range 1049 mi'],
  ['a clock', '14:10'],
  ['a date', '18.8.2014'],
  ['a date of a camera', '2014-05-13 08:50:27'],
  ['a temperature', '18.0°C'],
  ['a speed', '120 km/h'],
  ['a scale', '100 120 140'],
  ['a scale whose space was lost', '240320'],
  ['a mark of a scale', '160'],
  ['a radio', 'FM 90.3'],
  ['two numbers in a line', '339 14'],
  ['more digits than an odometer has', '82826540'],
  ['four digits alone', '2114'],
  ['a part number', 'A12345B'],
])('%s is no odometer: %j', (_, text) => {
  expect(readings(text)).toEqual([]);
});

describe('print beside a number', () => {
  it('a unit to the right of a number is the unit of the number, and a unit far away is not', () => {
    expect(readings(['8507', 0, 0], ['km', 5, 0])).toMatchObject([{ value: 8_507, unit: 'km', hasUnitInLine: false }]);
    expect(readings(['8507', 0, 0], ['km', 50, 50])).toEqual([]);
  });

  it('a name on the left of a number tells whether the number is an odometer', () => {
    expect(readings(['ODO', 0, 0], ['8507', 4, 0])).toMatchObject([{ value: 8_507 }]);
    expect(readings(['TRIP', 0, 0], ['18507', 5, 0])).toEqual([]);
  });
});

it('the place where a detector saw an odometer speaks for a number', () => {
  const place = { x0: 0, y0: 0, x1: 4, y1: 2 };
  expect(findPrintedOdometers(lines('8507'), [place])[0]?.evidence).toBeGreaterThanOrEqual(ENOUGH_EVIDENCE);
});

it('scales, units and words tell the print of a cluster from that of a paper', () => {
  expect(hasScale(lines('20', '40', '60'))).toBe(true);
  expect(hasScale(lines('Invoice', '874516', '20', '40'))).toBe(false);
  expect(hasClusterWord(lines('x1000r/min'))).toBe(true);
  expect(hasClusterWord(lines('km/h'))).toBe(true);
  expect(hasClusterWord(lines('Invoice', '874516'))).toBe(false);
});
