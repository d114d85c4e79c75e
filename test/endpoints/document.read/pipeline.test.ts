/** The pipeline with a reader that says what a test tells it, and on drawings with the networks of the project. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentRead } from '../../../src/endpoints/document.read/contract.ts';
import { pipeline } from '../../../src/endpoints/document.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/document.read/result.ts';
import { createBackend } from '../../../src/inference/backends/create-backend.ts';
import { type DocumentKind, drawDocument } from '../../../training/document-pictures.ts';
import { randomFrom } from '../../../training/print-pictures.ts';
import { lineAt, modelSeeing, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { picture, sent } from '../../inference/support/saying-model.ts';

/** Each line three pixels below the last, read in this order. */
async function run(texts: readonly string[], pictures = 1, parameters = {}): Promise<Result> {
  const lines = texts.map((_, index) => lineAt(4, 2 + 5 * index, 50 - index, 3));
  const said = Array.from({ length: pictures }, () => texts.map((text) => spelt(text, 0.95))).flat();
  const model = modelSeeing(lines, readerSaying(said));
  const images = Array.from({ length: pictures }, () => picture);
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

test('reads a registration certificate', async () => {
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

test('names the picture of each page and field', async () => {
  const { pages, fields } = await run(CERTIFICATE, 2);
  expect(pages.map(({ image_index }) => image_index)).toEqual([0, 1]);
  expect(new Set(fields.map(({ image_index }) => image_index))).toEqual(new Set([0, 1]));
});

test('a hint selects one of the countries that the print allows', async () => {
  expect((await run(CERTIFICATE, 1, { country_hint: 'AT' })).country?.value).toBe('AT');
});

test('finds no document in a few words', async () => {
  expect(await run(['PENSKE', 'Truck Rental', '1-800'])).toEqual({
    document_type: null,
    country: null,
    pages: [],
    fields: [],
    issues: [{ reason: 'no_document', image_index: 0, confidence: 0.9 }],
  });
});

let shown: Buffer = Buffer.alloc(0);
let backend: Awaited<ReturnType<typeof createBackend>>;

beforeAll(async () => {
  backend = await createBackend({
    modelsDirectory: 'models',
    // On a machine that is busy with other tests.
    patienceMs: 100_000,
    store: { get: async () => shown },
    writeArtefact: () => Promise.reject(new Error('a reading makes no files')),
    children: 1,
    threads: 1,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    endpoints: [documentRead],
  });
}, 120_000);

afterAll(() => backend.close());

test.each<[DocumentKind, number, number]>([
  ['title US', 0, 12],
  ['invoice DE', 180, 8],
])(
  'reads the drawing of a %s, turned by %i degrees',
  async (kind, turn, least) => {
    const truth = await drawDocument(kind, randomFrom(40), turn);
    shown = truth.jpeg;
    const { result } = await backend.infer(
      {
        jobId: 'job_1111111111111111111111',
        endpoint: 'document.read',
        livemode: true,
        parameters: {},
        inputs: [
          {
            field: 'images',
            storageKey: kind,
            mediaType: 'image/jpeg',
            bytes: shown.length,
            sha256: '',
            uploadId: null,
          },
        ],
        testScenario: null,
        reservedCredits: 20,
      },
      { signal: new AbortController().signal },
    );
    const { document_type, country, pages, fields } = result as Result;
    expect([document_type?.value, country?.value, pages.length]).toEqual([truth.type, truth.country, 1]);
    const drawn = truth.fields.map(({ name, value }) => `${name}=${value}`);
    const read = fields.map(({ name, value }) => `${name}=${value}`);
    expect(read.filter((field) => !drawn.includes(field))).toEqual([]);
    expect(read.length).toBeGreaterThanOrEqual(least);
  },
  120_000,
);
