/** The networks that read print, as a clone has them, on the examples that the project draws. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tireRead } from '../../../src/endpoints/tire.read/contract.ts';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';
import { type ShippedModels, STARTED_WITHIN_MS, startShippedModels } from '../support/shipped-models.ts';

const EXAMPLES = 'training/print-examples/';
const truths = JSON.parse(readFileSync(`${PROJECT_DIRECTORY}${EXAMPLES}truth.json`, 'utf8')) as {
  file: string;
  result: object;
}[];

let models: ShippedModels;
beforeAll(async () => {
  models = await startShippedModels([vinRead, tireRead], EXAMPLES);
}, STARTED_WITHIN_MS);
afterAll(() => models.backend.close());

it('the print reader serves both endpoints from one set of processes', () => {
  models.expectOneSetOfProcesses('print-reader@2026-11-22');
});

it.each(truths)(
  'the print reader reads $file',
  async ({ file, result }) => {
    const endpoint = file.startsWith('tire') ? 'tire.read' : 'vin.read';
    expect(await models.ask(endpoint, file)).toMatchObject(result);
  },
  300_000,
);
