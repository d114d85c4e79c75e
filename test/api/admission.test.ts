/** Admission requires credits, room for another open job, and an installed model. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURE_VERSION } from '../../src/contracts/model-versions.ts';
import { announceInstalledEndpoints, readInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { forgetWithdrawnEndpoints, rememberWithdrawnEndpoints } from '../../src/jobs/withdrawn-endpoints-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { countRows, installEndpoints, readJob, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { expectRefusal, read } from '../support/requests.ts';

const OPEN_JOBS_LIMIT = 12;

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ openJobsLimit: OPEN_JOBS_LIMIT });
  await installEndpoints(api.orm);
});
afterAll(async () => {
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});
beforeEach(async () => {
  customer = await createCustomer(api.orm, { live: 1_000, test: 1_000 });
});

const account = (livemode: boolean) => readAccount(api.orm, customer.organizationId, livemode);

describe('credits', () => {
  it('the price of a job is held at admission, from the balance of its mode', async () => {
    const { job } = await read(api, { key: customer.keys.test });
    expect(job.credits).toEqual({ reserved: 20, charged: 0 });
    expect(await transfersOf(api.orm, job.id)).toEqual([['hold', 20]]);
    expect(await account(false)).toEqual({ available: 980, held: 20, openJobs: 1 });
    expect(await account(true)).toEqual({ available: 1_000, held: 0, openJobs: 0 });
  });

  it('live credits also pay for jobs of staging keys, which are marked as staging', async () => {
    const live = await read(api, { key: customer.keys.live });
    const staging = await read(api, { key: customer.keys.staging });
    expect(live.job).toMatchObject({ livemode: true, is_staging: false });
    expect(staging.job).toMatchObject({ livemode: true, is_staging: true });
    expect(await account(true)).toEqual({ available: 960, held: 40, openJobs: 2 });
    expect(await account(false)).toEqual({ available: 1_000, held: 0, openJobs: 0 });
  });

  it('credits that do not cover the price refuse the request with 402 and the missing amount', async () => {
    const poor = await createCustomer(api.orm, { test: 19, live: 1_000 });
    const send = () => read(api, { key: poor.keys.test, idempotencyKey: 'too-few-credits' });
    const answer = await expectRefusal(api, send, { code: 'insufficient_credits' });
    expect(answer.status).toBe(402);
    expect(answer.error.message).toContain('holds 20 credits and 19 are available in test mode');
  });

  it('credits for 7 jobs admit exactly 7 of 70 concurrent requests', async () => {
    const few = await createCustomer(api.orm, { test: 7 * 20 + 19 });
    const answers = await Promise.all(Array.from({ length: 70 }, () => read(api, { key: few.keys.test })));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(63);
    expect(await readAccount(api.orm, few.organizationId, false)).toEqual({ available: 19, held: 140, openJobs: 7 });
    expect(await countRows(api.orm, 'jobs', few.organizationId)).toBe(7);
  });
});

describe('open jobs', () => {
  it(`open jobs are limited to ${OPEN_JOBS_LIMIT} per mode; another is refused with 429 until one ends`, async () => {
    const send = () => read(api, { key: customer.keys.test });
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(OPEN_JOBS_LIMIT);
    const refused = await expectRefusal(api, send, { code: 'concurrency_limit_exceeded' });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect((await read(api, { key: customer.keys.live })).status).toBe(202);

    const { job } = answers.find(({ status }) => status === 202) ?? refused;
    expect((await api.call(`/v1/jobs/${job.id}/cancel`, { method: 'POST', key: customer.keys.test })).status).toBe(200);
    expect((await send()).status).toBe(202);
  });
});

describe('live mode without an installed model', () => {
  const uninstall = async () => {
    const known = [...(await readInstalledEndpoints(api.orm.em.fork()))];
    const builds = known.flatMap(([endpoint, versions]) =>
      versions.map((modelVersion) => ({ endpoint, modelVersion })),
    );
    await announceInstalledEndpoints(api.orm.em.fork(), [], builds);
  };

  it('an endpoint without a model refuses live mode with 503 before it holds credits, and test mode keeps working', async () => {
    await uninstall();
    const send = () => read(api, { key: customer.keys.live, idempotencyKey: 'no-model-here' });
    const answer = await expectRefusal(api, send, { code: 'endpoint_unavailable' });
    expect((answer.json.error as { message: string }).message).toMatch(
      /^No inference worker has announced a model for dashboard\.read/,
    );
    expect(answer.status).toBe(503);
    expect(answer.headers.get('Retry-After')).toBe('60');
    await expectRefusal(api, () => read(api, { key: customer.keys.staging }), { code: 'endpoint_unavailable' });
    expect((await read(api, { key: customer.keys.test })).status).toBe(202);
    await installEndpoints(api.orm);
    expect((await send()).status).toBe(202);
  });

  it('a 503 in live mode distinguishes a missing model from an absent worker', async () => {
    await uninstall();
    await rememberWithdrawnEndpoints(api.orm.em.fork(), ['dashboard.read']);
    const answer = await read(api, { key: customer.keys.live });
    expect(answer).toMatchObject({ status: 503, json: { error: { code: 'endpoint_unavailable' } } });
    expect((answer.json.error as { message: string }).message).toMatch(
      /^No inference worker with the model of dashboard\.read runs at the moment/,
    );
    await forgetWithdrawnEndpoints(api.orm.em.fork());
    await installEndpoints(api.orm);
  });

  it('GET /v1/endpoints states availability, prices and limits in the mode of the key', async () => {
    await uninstall();
    const list = async (mode: 'live' | 'test' = 'live') =>
      (await api.call('/v1/endpoints', { key: customer.keys[mode] })).json;
    const expected = {
      object: 'endpoint',
      endpoint: 'dashboard.read',
      path: '/v1/dashboard/read',
      title: 'Dashboard and mileage reader',
      family: 'understand',
      scope: 'understand:write',
      preview: true,
      available: false,
      model_version: null,
      model_versions: [],
      available_values: {},
      price_credits: 20,
      rate_limit_per_minute: 600,
      wait: true,
      expires_after_seconds: 600,
      test_scenarios: [
        'empty_result',
        'low_confidence',
        'model_error',
        'input_unreadable',
        'slow',
        'insufficient_credits',
        'poor_image_quality',
        'cluster_off',
        'unit_unknown',
      ],
    };
    expect(await list()).toMatchObject({ object: 'list', has_more: false, data: expect.arrayContaining([expected]) });
    const ofFixtures = {
      ...expected,
      available: true,
      model_version: FIXTURE_VERSION,
      model_versions: [FIXTURE_VERSION],
      rate_limit_per_minute: 150,
    };
    expect(await list('test')).toMatchObject({ data: expect.arrayContaining([ofFixtures]) });
    await installEndpoints(api.orm);
    const installed = {
      ...expected,
      available: true,
      model_version: 'model-of-tests@2026-01-01',
      model_versions: ['model-of-tests@2026-01-01'],
    };
    expect(await list()).toMatchObject({ data: expect.arrayContaining([installed]) });
    expect(await list('test')).toMatchObject({ data: expect.arrayContaining([ofFixtures]) });
  });
});

it('a live job ignores the test scenario, even an unknown one', async () => {
  const answer = await read(api, { key: customer.keys.live, scenario: 'unknown' });
  expect(answer.status).toBe(202);
  expect(await readJob(api.orm, answer.job.id)).toMatchObject({ testScenario: null, livemode: true });
  const [row] = await query<{ count: string }>(
    api.orm.em.fork(),
    `select count(*) from jobs where test_scenario = 'unknown'`,
  );
  expect(row?.count).toBe('0');
});
