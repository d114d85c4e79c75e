/** Live valuations with pictures: what they show of the condition comes from a worker that sees damage, here a stand-in. */

import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { InferenceBackend } from '../../../src/contracts/inference-backend.ts';
import type { Result as Severities } from '../../../src/endpoints/damage.severity/result.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import type { Parameters } from '../../../src/endpoints/pricing.vehicle/request.ts';
import type { Result } from '../../../src/endpoints/pricing.vehicle/result.ts';
import { createLiveRunner } from '../../../src/inference/bundles/live-runner.ts';
import { failed, succeeded } from '../../../src/inference/toolkit/outcomes.ts';
import { createResultCheck } from '../../../src/inference/toolkit/result-check.ts';
import { announceInstalledEndpoints } from '../../../src/jobs/installed-endpoints-store.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { importPriceBook } from '../../../src/price-books/import-price-book.ts';
import { activateVersion } from '../../../src/price-books/price-books-store.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';
import { csvOf, inventedRows, writePriceFile } from '../../support/price-files.ts';
import { filePart } from '../../support/requests.ts';
import { startValuationService, type ValuationService } from '../../support/valuation-service.ts';
import { inferenceWorker, startTestWorkers, type TestWorkers } from '../../support/workers.ts';

type Seen = Severities['overall'] | 'unreadable';

const SEES_DAMAGE = { endpoint: 'damage.severity', modelVersion: 'damage-finder@2026-11-24' };
const overall = (value: 'moderate' | 'severe', confidence: number): Seen => ({
  severity: { value, confidence },
  drivable: { value: true, confidence },
  total_loss: { value: false, confidence },
});
const UNDAMAGED = null;
const VEHICLE = { make: 'Talvera', model: 'Lumo', year: 2019, mileage_km: 80_000 };

let service: ValuationService;
let gpu: TestWorkers;
let customer: Customer;
/** What each picture shows, by its number of bytes. */
const shown = new Map<number, Seen>();
let looks = 0;

beforeAll(async () => {
  service = await startValuationService();
  const em = () => service.api.orm.em.fork();
  const path = writePriceFile(csvOf(inventedRows(800)));
  await importPriceBook(em(), { path, book: 'invented-gb', country: 'GB', currency: 'GBP', namedOnly: false });
  await em().transactional((inner) => activateVersion(inner, { book: 'invented-gb', version: null }));
  await service.announce();
  gpu = await startTestWorkers(service.api.temporal, [inferenceWorker(service.api.orm, standIn())]);
});
afterAll(async () => {
  await gpu.stop();
  await service.close();
});
beforeEach(async () => {
  await announceInstalledEndpoints(service.api.orm.em.fork(), [SEES_DAMAGE], []);
  customer = await createCustomer(service.api.orm, { live: 1_000 });
  looks = 0;
});

function standIn(): InferenceBackend {
  const infer: InferenceBackend['infer'] = async ({ inputs }) => {
    looks += 1;
    const seen = shown.get(inputs[0]?.bytes ?? 0);
    if (seen === undefined) throw new Error('the test has no such picture');
    if (seen === 'unreadable') return failed(new ServiceError('input_unreadable', 'It is cut off.'));
    return succeeded({ overall: seen, damages: [], quality_issues: [] } satisfies Severities, 0);
  };
  return {
    modelVersion: ({ endpoint }) => {
      if (endpoint === SEES_DAMAGE.endpoint) return SEES_DAMAGE.modelVersion;
      throw new ServiceError('model_unavailable', `No model is installed for ${endpoint}.`);
    },
    infer,
    bundles: createLiveRunner({
      endpoints,
      endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
      check: createResultCheck(endpoints),
      logger: { info() {}, warn() {}, error() {} },
      infer,
      writeArtefact: () => Promise.reject(new Error('it makes no files')),
      serves: (endpoint) => endpoint === SEES_DAMAGE.endpoint,
      children: 1,
    }),
    close: async () => {},
  };
}

/** The job of a valuation with a picture of each. */
async function value(seen: readonly Seen[], parameters: Partial<Parameters> = {}) {
  const body = new FormData();
  for (const [name, field] of Object.entries({ vehicle: VEHICLE, ...parameters })) {
    body.append(name, typeof field === 'string' ? field : JSON.stringify(field));
  }
  for (const each of seen) {
    const width = 64 + shown.size;
    const picture = await sharp({ create: { width, height: 48, channels: 3, background: '#808080' } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    shown.set(picture.length, each);
    body.append('images', filePart(picture), 'car.png');
  }
  const answer = await service.api.call('/v1/pricing/vehicle?wait=true', {
    method: 'POST',
    key: customer.keys.live,
    body,
  });
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"completed_at"')]);
  return { ...answer.job, result: answer.job.result as Result };
}

const conditions = ({ adjustments }: Result) => adjustments.filter(({ kind }) => kind === 'condition');

it('the worst sure damage of all pictures lowers the value, at the price of any valuation', async () => {
  const plain = await value([]);
  const { result, ...job } = await value([UNDAMAGED, overall('severe', 0.8), overall('moderate', 0.9)]);
  expect(job).toMatchObject({ status: 'succeeded', credits: { reserved: 50, charged: 50 } });
  expect(result.condition).toEqual({ grade: 'D', sources: ['photos'], confidence: 0.8 });
  expect(conditions(result).map(({ channels }) => channels)).toEqual([['trade_in'], ['private'], ['retail']]);
  for (const [name, channel] of Object.entries(result.channels ?? {})) {
    const steps = result.adjustments.filter(({ channels }) => channels.some((one) => one === name));
    expect(steps.reduce((sum, { amount }) => sum + amount, channel.base)).toBe(channel.value);
    expect(channel.value).toBeLessThan(plain.result.channels?.[name as 'retail'].value ?? 0);
  }
});

it('pictures without a sure damage leave the usual condition: none proves that nothing is damaged', async () => {
  const plain = await value([]);
  const { result } = await value([UNDAMAGED, overall('severe', 0.4)]);
  expect(result.condition).toEqual({ grade: 'B', sources: [], confidence: null });
  expect(result.channels).toEqual(plain.result.channels);
});

it('what pictures show moves nothing beyond repairs that are deducted, and names the worse grade', async () => {
  const repairs = { repair_estimate_total: 20_000 };
  const deducted = await value([], repairs);
  const { result } = await value([overall('severe', 0.7)], repairs);
  expect(result.channels).toEqual(deducted.result.channels);
  expect(result.condition).toEqual({ grade: 'D', sources: ['photos', 'repair_estimate'], confidence: 0.7 });
});

it('a stated grade counts, and no picture is looked at', async () => {
  const { result } = await value([overall('severe', 0.9)], { condition_grade: 'A' });
  expect(result.condition).toEqual({ grade: 'A', sources: ['request'], confidence: null });
  expect(looks).toBe(0);
});

it('a picture that cannot be read makes the job partial; the others count, and the valuation is charged', async () => {
  const { result, ...job } = await value(['unreadable', overall('moderate', 0.6)]);
  expect(job).toMatchObject({ status: 'partial', credits: { charged: 50 } });
  expect(result.condition).toEqual({ grade: 'C', sources: ['photos'], confidence: 0.6 });
});

it('without a worker that sees damage a valuation rests on the attributes and does not wait', async () => {
  await announceInstalledEndpoints(service.api.orm.em.fork(), [], [SEES_DAMAGE]);
  const { result, ...job } = await value([overall('severe', 0.9)]);
  expect(job).toMatchObject({ status: 'succeeded', credits: { charged: 50 } });
  expect(result.condition).toEqual({ grade: 'B', sources: [], confidence: null });
  expect(looks).toBe(0);
});
