/** The specification's table of test scenarios, by HTTP and with the workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAIT_CEILING_MS } from '../../../src/api/app.ts';
import { SLOW_SCENARIO_MS } from '../../../src/inference/backends/fixture-backend.ts';
import type { TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../../support/customers.ts';
import { anotherJpeg } from '../../support/pictures.ts';
import { everythingKept, read } from '../../support/requests.ts';
import { expectMet, postPicture, run, settle, startTestMode } from '../service.ts';

const SCENARIOS = [
  { scenario: null, effect: 'Deterministic success with the default fixture' },
  { scenario: 'empty_result', effect: 'Success with nothing detected: empty lists, null readings' },
  { scenario: 'low_confidence', effect: 'Success with every confidence below 0.5' },
  { scenario: 'model_error', effect: 'Job settles failed; the credit reservation is released' },
  { scenario: 'slow', effect: 'Completion after about 30 s, so wait=true times out' },
  { scenario: 'insufficient_credits', effect: '402 at admission, no job created' },
] as const;

let api: TestApi;

beforeAll(async () => {
  api = await startTestMode();
});
afterAll(() => api.close());

const EFFECTS: Record<(typeof SCENARIOS)[number]['effect'], (customer: Customer) => Promise<void>> = {
  'Deterministic success with the default fixture': async (customer) => {
    const [first, second] = [await settle(api, customer), await settle(api, customer, { image: anotherJpeg() })];
    expect(first.job).not.toHaveProperty('test_scenario');
    expect(first.job.result).toEqual(second.job.result);
    expect(first.job.result).not.toBeNull();
  },

  'Success with nothing detected: empty lists, null readings': async (customer) => {
    const { job } = await settle(api, customer, { scenario: 'empty_result' });
    expect(job).toMatchObject({ status: 'succeeded', test_scenario: 'empty_result' });
    expect(job.result).toEqual({
      cluster_lit: null,
      odometer: null,
      warning_lights: [],
      fuel_level_percent: null,
      fuel_level_confidence: null,
    });
  },

  'Success with every confidence below 0.5': async (customer) => {
    for (const slug of ['dashboard.read', 'vin.read', 'tire.read', 'damage.detect']) {
      const { status, result, test_scenario } = await run(api, slug, customer, 'low_confidence');
      expect([status, test_scenario]).toEqual(['succeeded', 'low_confidence']);
      expect(confidencesIn(result).length).toBeGreaterThan(0);
      expect(Math.max(...confidencesIn(result))).toBeLessThan(0.5);
    }
  },

  'Job settles failed; the credit reservation is released': async (customer) => {
    const before = await readAccount(api.orm, customer.organizationId, false);
    const { job } = await settle(api, customer, { scenario: 'model_error' });
    expect(job).toMatchObject({
      status: 'failed',
      test_scenario: 'model_error',
      result: null,
      credits: { charged: 0 },
    });
    expect(job.error).toMatchObject({ type: 'processing_error', code: 'model_inference_failed' });
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual(before);
  },

  'Completion after about 30 s, so wait=true times out': async (customer) => {
    expect(SLOW_SCENARIO_MS).toBeGreaterThan(WAIT_CEILING_MS);
    expect(SLOW_SCENARIO_MS).toBeLessThanOrEqual(35_000);
    expect(await run(api, 'dashboard.read', customer, 'slow')).toMatchObject({
      status: 'succeeded',
      test_scenario: 'slow',
    });
  },

  '402 at admission, no job created': async (customer) => {
    const before = await everythingKept(api);
    const answer = await read(api, { key: customer.keys.test, scenario: 'insufficient_credits' });
    expect(answer.status).toBe(402);
    expect(await everythingKept(api)).toEqual(before);
  },
};

describe('Test scenario', () => {
  it.each(SCENARIOS)('the test scenario $scenario has its specified effect: $effect', async ({ effect }) => {
    await expectMet(EFFECTS[effect], await createCustomer(api.orm));
  });

  it.each([
    ['render.enhance', 'empty_result'],
    ['dashboard.read', 'no_such_scenario'],
    ['dashboard.read', ''],
  ])('%s rejects a test scenario that it does not support, and does not ignore it: "%s"', async (slug, scenario) => {
    const { keys } = await createCustomer(api.orm);
    const answer = await postPicture(api, slug, keys.test, { scenario });
    expect([answer.status, answer.error.code]).toEqual([400, 'test_scenario_not_supported']);
  });
});

function confidencesIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name === 'confidence' && typeof field === 'number' ? [field] : confidencesIn(field),
  );
}
