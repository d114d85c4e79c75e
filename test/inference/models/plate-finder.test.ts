/** The network that finds plates and the one that reads print, as a clone has them, on pictures that the project draws. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plateRead } from '../../../src/endpoints/plate.read/contract.ts';
import type { Result } from '../../../src/endpoints/plate.read/result.ts';
import { renderPlate } from '../../../src/endpoints/render.plate/contract.ts';
import { type ShippedModels, STARTED_WITHIN_MS, startShippedModels } from '../support/shipped-models.ts';

const modelVersion = 'plate-finder@2026-11-23';
const ENDPOINTS = new URL('../../../src/endpoints/', import.meta.url);

let models: ShippedModels;
beforeAll(async () => {
  models = await startShippedModels([plateRead, renderPlate], '');
}, STARTED_WITHIN_MS);
afterAll(() => models.backend.close());

async function platesOn(file: string): Promise<Result['plates']> {
  return ((await models.ask('plate.read', file)) as Result).plates;
}

it('the plate finder serves the reading and the anonymising of plates from one set of processes', () => {
  models.expectOneSetOfProcesses(modelVersion);
  expect(models.backend.installedEndpoints()[0]).toEqual({
    endpoint: 'plate.read',
    modelVersion,
    otherVersions: ['print-reader@2026-11-22'],
  });
});

it('the shipped models find the corners of the plate on a drawn car, and read it', async () => {
  const plates = await platesOn('src/endpoints/render.plate/fixtures/example.jpg');
  expect(plates.map(({ text }) => text)).toEqual(['VIS2047']);
  // Where it was drawn.
  const fixture = readFileSync(new URL('render.plate/fixtures/default.json', ENDPOINTS), 'utf8');
  const { quad = [] } = (JSON.parse(fixture) as Result).plates[0] ?? {};
  const misses = (plates[0]?.quad ?? []).map(({ x, y }, corner) =>
    Math.hypot(x - (quad[corner]?.x ?? Number.NaN), y - (quad[corner]?.y ?? Number.NaN)),
  );
  expect(misses).toHaveLength(4);
  // Of 90 pixels in width.
  expect(Math.max(...misses)).toBeLessThan(7);
}, 300_000);

it.each([
  'src/endpoints/render.plate/fixtures/no-plate.jpg',
  'src/endpoints/document.read/fixtures/example.jpg',
  'training/print-examples/windscreen.jpg',
  'training/print-examples/stamping.jpg',
])(
  'the shipped models invent no plate on %s',
  async (file) => {
    expect(await platesOn(file)).toEqual([]);
  },
  300_000,
);
