/** Zones as a recogniser reads them. */
import { expect, test } from 'vitest';
import { toRows } from '../../../src/endpoints/driver_license.read/page.ts';
import { readMrz } from '../../../src/endpoints/driver_license.read/read-mrz.ts';
import { printedAt, spelt } from '../../inference/support/print-saying.ts';

const zone = (...lines: string[]) =>
  readMrz(
    toRows(
      lines.map((line, row) => printedAt(5, 10 * row, spelt(line))),
      1,
    ),
    '2026-11-23',
  );

test('driver_license.read reads the one line of a French licence, whose first check digit covers everything before it', () => {
  // The specimen of the French authorities.
  expect(zone('SPECIMEN', 'D1FRA13AA000026181231MARTIN<<9')).toEqual({
    lines: ['D1FRA13AA000026181231MARTIN<<9'],
    checks: [
      { field: 'number', found: '6', expected: '6', valid: true },
      { field: 'composite', found: '9', expected: '9', valid: true },
    ],
    country: 'FR',
    fields: { number: '13AA00002', expiry_date: '2018-12-31', family_name: 'MARTIN' },
    place: { confidence: 0.9, image_index: 1, bbox: { x: 5, y: 10, width: 30, height: 2 } },
  });
});

test('driver_license.read reports check digits that do not agree', () => {
  const mrz = zone('D1FRA13AA000036181231MARTIN<<9');
  expect(mrz?.checks.map(({ valid }) => valid)).toEqual([false, false]);
});

test('driver_license.read reads country and last check digit of the one line of another country, and nothing else', () => {
  expect(zone('D1NLD15094962111659VW87Z78NB84')).toMatchObject({
    country: 'NL',
    fields: {},
    checks: [{ field: 'composite', found: '4' }],
  });
});

test('driver_license.read reads three lines of the size TD1', () => {
  // The lines of ICAO 9303, part 5, appendix A, as those of a licence.
  const mrz = zone(
    'D<BELD231458907<<<<<<<<<<<<<<<',
    '7408122F1204159BEL<<<<<<<<<<<6',
    'ERIKSSON<<ANNA<MARIA<<<<<<<<<<',
  );
  expect(mrz).toMatchObject({
    country: 'BE',
    fields: {
      number: 'D23145890',
      birth_date: '1974-08-12',
      sex: 'female',
      expiry_date: '2012-04-15',
      family_name: 'ERIKSSON',
      given_names: 'ANNA MARIA',
    },
  });
  expect(mrz?.lines).toHaveLength(3);
  expect(mrz?.checks).toEqual([
    { field: 'number', found: '7', expected: '7', valid: true },
    { field: 'birth_date', found: '2', expected: '2', valid: true },
    { field: 'expiry_date', found: '9', expected: '9', valid: true },
    { field: 'composite', found: '6', expected: '6', valid: true },
  ]);
});

test('an MRZ has no spaces, and fillers for the quotation marks that the recogniser read', () => {
  expect(zone('D1FRA13AA000026181231 MARTIN«9')?.lines).toEqual(['D1FRA13AA000026181231MARTIN<<9']);
});

const TD1 = [
  'D<BELD231458907<<<<<<<<<<<<<<<',
  '7408122F1204159BEL<<<<<<<<<<<6',
  'ERIKSSON<<ANNA<MARIA<<<<<<<<<<',
] as const;

test.each([27, 29, 32])(
  'the line of names in an MRZ has its full number of fillers, also when %i characters were read',
  (length) => {
    const names = 'ERIKSSON<<ANNA<MARIA'.padEnd(length, '<');
    expect(zone(TD1[0], TD1[1], names)?.lines).toEqual([...TD1]);
  },
);

test('a character of an MRZ that can only be a digit is read as one, with the probability of the network', () => {
  const [first, second, third] = TD1.map((line) => spelt(line));
  const asO = second?.map((said, place) =>
    place === 12 ? { character: 'O', probability: 0.55, others: { '7': 0.4 } } : said,
  );
  const lines = [first, asO, third].map((said, row) => printedAt(5, 10 * row, said ?? []));
  const mrz = readMrz(toRows(lines, 0), '2026-11-23');
  expect(mrz?.lines[1]).toBe('7408122F1204759BEL<<<<<<<<<<<6');
  expect(mrz?.place.confidence).toBeCloseTo(0.4);
  expect(mrz?.checks.map(({ valid }) => valid)).toEqual([true, true, false, false]);
});

test('a date of birth that cannot be is none', () => {
  expect(zone(TD1[0], '7413122F1204159BEL<<<<<<<<<<<6', TD1[2])?.fields).not.toHaveProperty('birth_date');
});

test('two lines of three are not an MRZ of the size TD1', () => {
  expect(zone(TD1[0], TD1[1])?.lines).toHaveLength(1);
});

test.each(['D1FRA13AA000026181231MARTIN<<', 'I1FRA13AA000026181231MARTIN<<9', 'DRIVING LICENCE', ''])(
  'driver_license.read finds no MRZ in "%s"',
  (line) => {
    expect(line === '' ? zone() : zone(line)).toBeNull();
  },
);
