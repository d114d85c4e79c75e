/** The pipeline with the networks that come with the project, on specimens. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { composeLicense } from '../../../src/endpoints/driver_license.read/compose-license.ts';
import { driverLicenseRead } from '../../../src/endpoints/driver_license.read/contract.ts';
import { createPipeline } from '../../../src/endpoints/driver_license.read/pipeline.ts';
import { readSide, withIssues } from '../../../src/endpoints/driver_license.read/read-side.ts';
import type { Result } from '../../../src/endpoints/driver_license.read/result.ts';
import { decodeImage } from '../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import type { RunnablePipeline } from '../../../src/inference/toolkit/pipeline.ts';
import { createResultCheck } from '../../../src/inference/toolkit/result-check.ts';
import type { PrintedLine } from '../../../src/inference/toolkit/text/text-lines.ts';
import { openInstalledModel } from '../../inference/support/installed-model.ts';
import { lineAt, modelSeeing, printedAt, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { picture, sent } from '../../inference/support/saying-model.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';
import { drawAmericanBack, drawAmericanFront } from './specimens.ts';

type Box = NonNullable<Result['portrait']>['bbox'];

const pipeline = createPipeline(() => new Date('2026-11-23T12:00:00Z'));
const check = createResultCheck([driverLicenseRead]);
const valuesOf = (part: object | null) =>
  Object.fromEntries(Object.entries(part ?? {}).map(([field, read]) => [field, read?.value ?? read]));

const TODAY = '2026-11-23';
function seen(lines: readonly PrintedLine[], imageIndex = 0) {
  const shown = { picture, lines, codes: [], imageIndex };
  return withIssues(readSide(shown, TODAY), shown);
}

/** Of two boxes: their intersection by their union. */
function overlap(one: Box | undefined, other: Box | undefined): number {
  if (!one || !other) return 0;
  const along = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  const common = Math.max(0, along) * Math.max(0, down);
  return common / (one.width * one.height + other.width * other.height - common);
}

const side = (...lines: Written[]) => seen(lines.map(([x, y, text]) => printedAt(x, y, spelt(text))));
const composed = (...lines: Written[]) => composeLicense([side(...lines)], {}, TODAY);

type Written = [x: number, y: number, text: string];

const FRONT: Written[] = [
  [10, 10, '1.'],
  [14, 10, 'VALBRUN'],
  [10, 15, '2.'],
  [14, 15, 'ELODIE'],
  [14, 17.5, 'JEANNE'],
  [10, 21, '3. 07.09.1991 EXAMPLETOWN'],
  [10, 25, '4a. 21.05.2024 4c. PREFECTURE'],
  [10, 29, '4b. 21.05.2039'],
  [10, 33, '5. 24AB35791'],
  [10, 37, '9. AM/B1/B'],
];

test('driver_license.read reads numbered fields in one piece and in several, and a name in two rows', () => {
  const { holder, license, categories, document } = composed(...FRONT);
  expect(valuesOf(holder)).toMatchObject({
    family_name: 'VALBRUN',
    given_names: 'ELODIE JEANNE',
    birth_date: '1991-09-07',
    birth_place: 'EXAMPLETOWN',
  });
  expect(holder?.given_names?.text).toBe('ELODIE\nJEANNE');
  expect(valuesOf(license)).toEqual({
    number: '24AB35791',
    issue_date: '2024-05-21',
    expiry_date: '2039-05-21',
    issuing_authority: 'PREFECTURE',
    is_expired: false,
  });
  expect(categories.map(({ code }) => code)).toEqual(['AM', 'B1', 'B']);
  expect(document?.sides.map((found) => found.side)).toEqual(['front']);
});

test('a licence is expired from the day after its last one', () => {
  const on = (today: string) => composeLicense([side(...FRONT)], {}, today).license?.is_expired;
  expect([on('2039-05-21'), on('2039-05-22')]).toEqual([false, true]);
});

test('driver_license.read leaves out what is not certain', () => {
  const doubtful = printedAt(10, 33, [...spelt('5. 24AB3579'), { character: '1', probability: 0.4 }]);
  const lines = [...FRONT.filter(([, y]) => y !== 33).map(([x, y, text]) => printedAt(x, y, spelt(text))), doubtful];
  expect(composeLicense([seen(lines)], {}, TODAY).license?.number).toBeNull();
});

test('driver_license.read takes the country from the hint only where nothing else tells', () => {
  const hinted = (lines: typeof FRONT) => composeLicense([side(...lines)], { country_hint: 'BE' }, TODAY);
  expect(hinted(FRONT).document?.country).toEqual({ value: 'BE', confidence: 0.5 });
  expect(hinted([[4, 4, 'F'], ...FRONT]).document?.country).toEqual({ value: 'FR', confidence: 0.9 });
});

test('driver_license.read reads numbers that print and recognisers join with their values', () => {
  const { holder, license } = composed(
    [10, 10, '1. VALBRUN'],
    [10, 14, '2. ELODIE'],
    [10, 18, '3. 07.09.91 (EXAMPLETOWN)'],
    [10, 22, '4a01.01.2013'],
    [30, 22, '4c.99999 EXAMPLETOWN'],
    [10, 26, '4b31.12.2018'],
    [10, 30, '5.13AA00002'],
  );
  expect(valuesOf(holder)).toMatchObject({ birth_date: '1991-09-07', birth_place: 'EXAMPLETOWN' });
  expect(valuesOf(license)).toEqual({
    number: '13AA00002',
    issue_date: '2013-01-01',
    expiry_date: '2018-12-31',
    issuing_authority: '99999 EXAMPLETOWN',
    is_expired: true,
  });
});

test('driver_license.read does not take a date for a number and its value', () => {
  expect(composed(...FRONT.filter(([, y]) => y !== 33), [10, 33, '5.09.1991']).license?.number).toBeNull();
});

test.each([
  ['8 100 EXAMPLE STREET', 10],
  ['8100 EXAMPLE STREET', 10],
  ['100 EXAMPLE STREET', 12],
])(
  'driver_license.read reads an American front whose fields have numbers, with the street printed as "%s"',
  (street, x) => {
    const { document, holder, license, categories } = composed(
      [30, 2, 'WASHINGTON DRIVER LICENSE'],
      [10, 10, '4dLIC#WDLABCD456DG'],
      [40, 10, '9CLASS B DONOR'],
      [10, 14, '1 MARLOWE'],
      [10, 18, '2 JORDAN A.'],
      [x, 22, street],
      [12, 24.5, 'ANYTOWN WA 99999-1234'],
      [10, 30, '3 DOB 02/11/1985'],
      [10, 34, '4a ISs 02/09/2016'],
      [40, 34, '4b EXP 02/11/2027'],
    );
    expect(document).toMatchObject({ country: { value: 'US' }, region: { value: 'US-WA' } });
    expect(valuesOf(holder)).toMatchObject({
      family_name: 'MARLOWE',
      given_names: 'JORDAN A.',
      birth_date: '1985-02-11',
      address: '100 EXAMPLE STREET, ANYTOWN WA 99999-1234',
    });
    expect(valuesOf(license)).toMatchObject({ number: 'WDLABCD456DG', issue_date: '2016-02-09', is_expired: false });
    expect(categories.map(({ code }) => code)).toEqual(['B']);
  },
);

test.each([
  ['RÉPUBLIQUE FRANÇAISE', 'FR'],
  ['FÜHRERSCHEIN BUNDESREPUBLIK DEUTSCHLAND', 'DE'],
  ['DRIVING LICENCE', null],
])('driver_license.read takes the country from the title "%s": %s', (title, country) => {
  expect(composed([30, 4, title], ...FRONT).document?.country?.value ?? null).toBe(country);
});

test('the surer of two pictures of a front counts, in either order', () => {
  const rest = FRONT.slice(0, 5);
  const [less, more] = [rest, FRONT].map((lines, index) =>
    seen(
      lines.map(([x, y, text]) => printedAt(x, y, spelt(text))),
      index,
    ),
  );
  if (!less || !more) throw new Error('two sides');
  for (const sides of [
    [less, more],
    [more, less],
  ]) {
    expect(composeLicense(sides, {}, TODAY).document?.sides.map(({ image_index }) => image_index)).toEqual([1]);
  }
});

test('driver_license.read finds no licence in other print', async () => {
  const nothing = { document: null, holder: null, license: null, categories: [], barcode: null, mrz: null };
  const issues = expect.arrayContaining([{ reason: 'no_document', image_index: 0, confidence: expect.any(Number) }]);
  expect(composed([10, 10, 'SERVICE BOOK'], [10, 20, '1. OIL'])).toMatchObject({ ...nothing, issues });
  const model = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt('INVOICE')]));
  const result = await pipeline.create(model)({ pictures: sent(picture), parameters: {} });
  expect(result).toMatchObject({ ...nothing, issues });
  expect(check('driver_license.read', result)).toBeNull();
});

describe('with the networks that come with the project', () => {
  let run: RunnablePipeline;

  beforeAll(async () => {
    run = pipeline.create(await openInstalledModel('print-reader'));
  });

  const read = async (...pictures: RgbImage[]) =>
    (await run({ pictures: sent(...pictures), parameters: {} })) as Result;
  const example = async (file: string) =>
    decodeImage(await readFile(`${PROJECT_DIRECTORY}src/endpoints/driver_license.read/fixtures/${file}`));

  test('driver_license.read reads the European example, whichever side comes first', async () => {
    const result = await read(await example('example-back.jpg'), await example('example.jpg'));
    expect(check('driver_license.read', result)).toBeNull();
    expect(result.document).toMatchObject({
      country: { value: 'FR' },
      sides: [
        { side: 'front', image_index: 1 },
        { side: 'back', image_index: 0 },
      ],
    });
    expect(valuesOf(result.holder)).toMatchObject({
      family_name: 'VALBRUN',
      given_names: 'ELODIE JEANNE',
      birth_date: '1991-09-07',
    });
    expect(valuesOf(result.license)).toMatchObject({ number: '24AB35791', expiry_date: '2039-05-21' });
    expect(result.categories).toMatchObject([
      { code: 'AM', valid_from: '2005-10-02', valid_until: '2039-05-21', image_index: 0 },
      { code: 'B', valid_from: '2010-06-18', valid_until: '2039-05-21', image_index: 0 },
    ]);
    expect(result.mrz).toMatchObject({ lines: ['D1FRA24AB357918390521VALBRUN<3'], valid: true });
    expect(result.mrz?.comparisons).toHaveLength(4);
    expect(result.mrz?.comparisons.every(({ agrees }) => agrees)).toBe(true);
    const drawn = fixtureOf<Result>('driver_license.read', 'default');
    expect(overlap(result.portrait?.bbox, drawn.portrait?.bbox)).toBeGreaterThan(0.85);
    expect(overlap(result.signature?.bbox, drawn.signature?.bbox)).toBeGreaterThan(0.6);
    expect(result.issues).toEqual([]);
  }, 240_000);

  test('driver_license.read reads an American specimen, and compares its print with its barcode', async () => {
    const result = await read(await drawAmericanFront(), await drawAmericanBack());
    expect(check('driver_license.read', result)).toBeNull();
    expect(result.document).toMatchObject({
      country: { value: 'US' },
      region: { value: 'US-CA' },
      sides: [{ side: 'front' }, { side: 'back' }],
    });
    expect(valuesOf(result.holder)).toMatchObject({
      family_name: 'MARLOWE-TEST',
      given_names: 'JORDAN ALEX',
      birth_date: '1985-02-11',
      sex: 'male',
      address: '100 EXAMPLE STREET, ANYTOWN, CA 90000',
    });
    expect(valuesOf(result.license)).toMatchObject({
      number: 'Z0000417',
      issue_date: '2016-02-09',
      expiry_date: '2021-02-11',
      is_expired: true,
    });
    expect(result.categories.map(({ code }) => code)).toEqual(['C']);
    expect(result.barcode).toMatchObject({
      decoded: true,
      standard: 'aamva',
      standard_version: 8,
      issuer_identification_number: '636014',
    });
    expect(result.barcode?.comparisons.filter(({ agrees }) => !agrees)).toEqual([]);
    expect(result.barcode?.comparisons.map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        'family_name',
        'given_names',
        'birth_date',
        'address',
        'number',
        'country',
        'categories',
      ]),
    );
    // This specimen has neither.
    expect([result.portrait, result.signature]).toEqual([null, null]);
  }, 240_000);
});
