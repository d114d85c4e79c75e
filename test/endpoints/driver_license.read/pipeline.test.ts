/** The pipeline with the networks that come with the project, on specimens. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { composeLicense } from '../../../src/endpoints/driver_license.read/compose-license.ts';
import { driverLicenseRead } from '../../../src/endpoints/driver_license.read/contract.ts';
import { pipeline } from '../../../src/endpoints/driver_license.read/pipeline.ts';
import { readSide } from '../../../src/endpoints/driver_license.read/read-side.ts';
import type { Result } from '../../../src/endpoints/driver_license.read/result.ts';
import { createModelFolder } from '../../../src/inference/models/registry.ts';
import { CPU } from '../../../src/inference/runtime/devices.ts';
import { openModel } from '../../../src/inference/runtime/onnx-model.ts';
import { RunQueue } from '../../../src/inference/runtime/run-queue.ts';
import { decodeImage } from '../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import type { RunnablePipeline } from '../../../src/inference/toolkit/pipeline.ts';
import { createResultCheck } from '../../../src/inference/toolkit/result-check.ts';
import { lineAt, modelSeeing, printedAt, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { picture, sent } from '../../inference/support/saying-model.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';
import { drawAmericanBack, drawAmericanFront } from './specimens.ts';

const check = createResultCheck([driverLicenseRead]);
const valuesOf = (part: object | null) =>
  Object.fromEntries(Object.entries(part ?? {}).map(([field, read]) => [field, read?.value ?? read]));

const side = (...lines: [x: number, y: number, text: string][]) =>
  readSide(
    lines.map(([x, y, text]) => printedAt(x, y, spelt(text))),
    [],
    0,
  );
const composed = (...lines: [x: number, y: number, text: string][]) =>
  composeLicense([side(...lines)], {}, '2026-11-23');

const FRONT: [number, number, string][] = [
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

test('reads numbered fields in one piece and in several, and a name in two rows', () => {
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

test('is expired from the day after its last one', () => {
  const on = (today: string) => composeLicense([side(...FRONT)], {}, today).license?.is_expired;
  expect([on('2039-05-21'), on('2039-05-22')]).toEqual([false, true]);
});

test('leaves out what is not certain', () => {
  const doubtful = printedAt(10, 33, [...spelt('5. 24AB3579'), { character: '1', probability: 0.4 }]);
  const lines = [...FRONT.filter(([, y]) => y !== 33).map(([x, y, text]) => printedAt(x, y, spelt(text))), doubtful];
  expect(composeLicense([readSide(lines, [], 0)], {}, '2026-11-23').license?.number).toBeNull();
});

test('takes the country from the hint only where nothing else tells', () => {
  const hinted = (lines: typeof FRONT) => composeLicense([side(...lines)], { country_hint: 'BE' }, '2026-11-23');
  expect(hinted(FRONT).document?.country).toEqual({ value: 'BE', confidence: 0.5 });
  expect(hinted([[4, 4, 'F'], ...FRONT]).document?.country).toEqual({ value: 'FR', confidence: 0.9 });
});

test('finds no licence in other print', async () => {
  const nothing = { document: null, holder: null, license: null, categories: [], barcode: null, mrz: null, issues: [] };
  expect(composed([10, 10, 'SERVICE BOOK'], [10, 20, '1. OIL'])).toMatchObject(nothing);
  const model = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt('INVOICE')]));
  const result = await pipeline.create(model)({ pictures: sent(picture), parameters: {} });
  expect(result).toMatchObject(nothing);
  expect(check('driver_license.read', result)).toBeNull();
});

describe('with the networks that come with the project', () => {
  let run: RunnablePipeline;

  beforeAll(async () => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const installed = (await createModelFolder(`${PROJECT_DIRECTORY}models`, log).read()).find('print-reader');
    if (!installed) throw new Error('the model that reads print is not there');
    const queue = new RunQueue(() => undefined);
    const ask = () => Promise.reject(new Error('no network is elsewhere'));
    run = pipeline.create(
      await openModel(installed, {
        threads: 1,
        device: CPU,
        run: (network, inputs) => queue.run(network, inputs),
        ask,
      }),
    );
  });

  const read = async (...pictures: RgbImage[]) =>
    (await run({ pictures: sent(...pictures), parameters: {} })) as Result;
  const example = async (file: string) =>
    decodeImage(await readFile(`${PROJECT_DIRECTORY}src/endpoints/driver_license.read/fixtures/${file}`));

  test('reads the European example, whichever side comes first', async () => {
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
  });

  test('reads an American specimen, and compares its print with its barcode', async () => {
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
    expect(result.barcode?.comparisons.length).toBeGreaterThanOrEqual(7);
  });
});
