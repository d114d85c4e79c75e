/** The pipeline with a reader that says what a test tells it, and on drawings with the networks of the project. */
import { beforeAll, expect, test } from 'vitest';
import { documentRead } from '../../../src/endpoints/document.read/contract.ts';
import { pipeline } from '../../../src/endpoints/document.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/document.read/result.ts';
import { decodeImage } from '../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import type { RunnablePipeline } from '../../../src/inference/toolkit/pipeline.ts';
import { createResultCheck } from '../../../src/inference/toolkit/result-check.ts';
import { type DocumentKind, drawDocument } from '../../../training/document-pictures.ts';
import { randomFrom } from '../../../training/print-pictures.ts';
import { coded } from '../../inference/support/coded.ts';
import { openInstalledModel } from '../../inference/support/installed-model.ts';
import { lineAt, modelSeeing, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { picture, sent } from '../../inference/support/saying-model.ts';

/** Each line three pixels below the last, read in this order. */
async function run(
  texts: readonly string[],
  pictures = 1,
  parameters = {},
  shows: RgbImage = picture,
  probability = 0.95,
): Promise<Result> {
  const lines = texts.map((_, index) => lineAt(4, 2 + 5 * index, 50 - index, 3));
  const said = Array.from({ length: pictures }, () => texts.map((text) => spelt(text, probability))).flat();
  const model = modelSeeing(lines, readerSaying(said));
  const images = Array.from({ length: pictures }, () => shows);
  return (await pipeline.create(model)({ pictures: sent(...images), parameters })) as Result;
}

const CERTIFICATE = [
  'Zulassungsbescheinigung Teil I',
  'A XX-TE 2026',
  'B 14.03.2022',
  'D.1 TALVERA',
  'D.3 LUMO',
  'E 7ZZBX2C45N1048215',
  'P.2 110 kW',
];

const BILL = [
  'Werkstatt Beispiel GmbH',
  'Rechnung',
  'Rechnungsnummer: 2026-00417',
  'Rechnungsdatum: 18.06.2026',
  'Kennzeichen: XX-TE 2026',
  'Vielen Dank und gute Fahrt',
];

test('document.read reads a registration certificate', async () => {
  const { document_type, country, pages, fields, issues } = await run(CERTIFICATE);
  expect(document_type?.value).toBe('registration_certificate');
  expect(country).toBeNull();
  expect(pages).toMatchObject([{ image_index: 0, quad: { length: 4 } }]);
  expect(fields.map(({ name, value }) => [name, value])).toEqual([
    ['registration_number', 'XX-TE 2026'],
    ['first_registration_date', '2022-03-14'],
    ['make', 'TALVERA'],
    ['model', 'LUMO'],
    ['vin', '7ZZBX2C45N1048215'],
    ['power', 110],
  ]);
  expect(issues.map(({ reason }) => reason)).not.toContain('no_document');
});

test('document.read names the picture of each page and field', async () => {
  const { pages, fields } = await run(BILL, 2);
  expect(pages.map(({ image_index }) => image_index)).toEqual([0, 1]);
  expect(new Set(fields.map(({ image_index }) => image_index))).toEqual(new Set([0, 1]));
});

test('a hint selects one of the countries that the print allows', async () => {
  expect((await run(CERTIFICATE, 1, { country_hint: 'AT' })).country?.value).toBe('AT');
});

test('document.read finds no document in a few words', async () => {
  const { issues, ...nothing } = await run(['PENSKE', 'Truck Rental', '1-800']);
  expect(nothing).toEqual({ document_type: null, country: null, pages: [], fields: [] });
  expect(issues).toContainEqual({ reason: 'no_document', image_index: 0, confidence: expect.any(Number) });
});

test('document.read adds what only a code holds, and states once what is also printed', async () => {
  const sepa = ['BCD', '002', '1', 'SCT', '', 'Werkstatt Beispiel GmbH', 'DE00500105170123456789', 'EUR1007.10'];
  const { fields } = await run(BILL, 1, {}, await coded('QRCode', sepa.join('\n')));
  expect(fields.map(({ name, value, label }) => [name, value, label])).toEqual([
    ['issuer_name', 'Werkstatt Beispiel GmbH', null],
    ['invoice_number', '2026-00417', 'Rechnungsnummer'],
    ['issue_date', '2026-06-18', 'Rechnungsdatum'],
    ['registration_number', 'XX-TE 2026', 'Kennzeichen'],
    ['total_amount', 100_710, null],
  ]);
});

test.each([
  ['is not printed', CERTIFICATE.filter((line) => !line.startsWith('E ')), 0.95],
  ['is printed, but not surely', CERTIFICATE, 0.85],
])('a Data Matrix gives a VIN that %s', async (_, lines, probability) => {
  const vin = '7ZZBX2C45N1048216';
  const { fields } = await run(lines, 1, {}, await coded('DataMatrix', vin), probability);
  expect(fields).toContainEqual(expect.objectContaining({ name: 'vin', value: vin, label: null, confidence: 0.99 }));
});

let runInstalled: RunnablePipeline;

beforeAll(async () => {
  runInstalled = pipeline.create(await openInstalledModel('print-reader'));
}, 120_000);

test.each<[DocumentKind, number, number]>([
  ['title US', 0, 12],
  ['invoice DE', 180, 8],
  // Its codes are single letters in the corners of cells.
  ['registration DE in cells', 0, 14],
])(
  'document.read reads the drawing of a %s, turned by %i degrees',
  async (kind, turn, least) => {
    const truth = await drawDocument(kind, randomFrom(40), turn);
    const result = await runInstalled({ pictures: sent(await decodeImage(truth.jpeg)), parameters: {} });
    expect(createResultCheck([documentRead])('document.read', result)).toBeNull();
    const { document_type, country, pages, fields } = result as Result;
    expect([document_type?.value, country?.value, pages.length]).toEqual([truth.type, truth.country, 1]);
    const drawn = truth.fields.map(({ name, value }) => `${name}=${value}`);
    const read = fields.map(({ name, value }) => `${name}=${value}`);
    expect(read.filter((field) => !drawn.includes(field))).toEqual([]);
    expect(read.length).toBeGreaterThanOrEqual(least);
  },
  240_000,
);
