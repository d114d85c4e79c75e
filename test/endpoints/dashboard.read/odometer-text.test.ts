import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseOdometerText, voteOnOdometer } from '../../../src/endpoints/dashboard.read/odometer-text.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';

const manifest = new URL('../../../models/dashboard-reader/2026-11-24/model.json', import.meta.url);
const pattern = new RegExp(String(parseManifest(readFileSync(manifest, 'utf8')).rules?.odometerPattern));

test.each([
  ['84213', 84_213, null],
  ['84213 km', 84_213, 'km'],
  ['084213km', 84_213, 'km'],
  ['84,213 mi', 84_213, 'mi'],
  ['84.213 KM', 84_213, 'km'],
  ['1 084 213 miles', 1_084_213, 'mi'],
  ['ODO 12 MI', 12, 'mi'],
  ['TOTAL 132406', 132_406, null],
  [' 0 ', 0, null],
])('the odometer text %j means %d %s', (text, value, unit) => {
  expect(parseOdometerText(text, pattern)).toEqual({ value, unit });
});

test.each(['', '123.4', '123.4 km', '1,234.567', '-4', '21 C', 'TRIP 123', '84 21 3', '12345678', 'P R N D'])(
  'the text %j is no odometer',
  (text) => {
    expect(parseOdometerText(text, pattern)).toBeNull();
  },
);

function line(text: string, weakest: number) {
  return { text, characters: Array.from(text, (character) => ({ character, probability: weakest })) };
}

test('the odometer is the reading with the greatest sum, with its share of all crops as confidence', () => {
  const views = [line('1234 km', 0.9), line('234 km', 0.95), line('1234 km', 0.8), line('smudge', 0.99)];
  expect(voteOnOdometer(views, pattern, 0.5)).toEqual({ value: 1234, unit: 'km', confidence: (0.9 + 0.8) / 4 });
});

test('the same number in another unit counts as another reading', () => {
  const views = [line('1234', 0.9), line('1234 mi', 0.6), line('1234 mi', 0.6)];
  expect(voteOnOdometer(views, pattern, 0.5)).toMatchObject({ value: 1234, unit: 'mi' });
});

test('the first crop wins a tie between odometer readings', () => {
  expect(voteOnOdometer([line('12', 0.9), line('13', 0.9)], pattern, 0.5)?.value).toBe(12);
});

test('a crop with an uncertain character does not count for the odometer', () => {
  expect(voteOnOdometer([line('1234', 0.4), line('1234', 0.49)], pattern, 0.5)).toBeNull();
});
