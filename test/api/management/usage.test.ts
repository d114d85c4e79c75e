/** Usage by day, endpoint, key and mode. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStatus } from '../../../src/contracts/job.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { firstIdAt } from '../../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';

const NOW = new Date('2026-03-15T12:00:00Z');

let api: TestApi;
let customer: Customer;
let other: Customer;

beforeAll(async () => {
  api = await startTestApi({ clock: () => NOW });
  customer = await createCustomer(api.orm);
  other = await createCustomer(api.orm);
  await insert(customer, '2026-03-15T00:00:00Z', 'test', 'succeeded', 20);
  await insert(customer, '2026-03-15T11:00:00Z', 'test', 'failed', 0);
  await insert(customer, '2026-03-14T23:59:59Z', 'test', 'succeeded', 20);
  await insert(customer, '2026-03-14T10:00:00Z', 'live', 'partial', 15);
  await insert(customer, '2026-03-14T11:00:00Z', 'staging', 'queued', 0, 'plate.read');
  await insert(customer, '2026-02-13T23:59:59Z', 'live', 'succeeded', 99);
  await insert(other, '2026-03-15T10:00:00Z', 'live', 'succeeded', 1_000);
});
afterAll(() => api.close());

/** A job with its times of admission and end, the only parts that usage reads. */
async function insert(
  { organizationId, keyIds }: Customer,
  at: string,
  mode: 'live' | 'staging' | 'test',
  status: JobStatus,
  charged: number,
  endpoint = 'dashboard.read',
): Promise<void> {
  await query(
    api.orm.em.fork(),
    `insert into jobs (id, organization_id, api_key_id, endpoint, status, livemode, is_staging, parameters, inputs,
       reserved_credits, charged_credits, request_id, created_at, completed_at, expiry_ms, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, '{}', '[]', $8, $9, 'req_1', $10, $11, 1000, $10)`,
    [
      // The ids of two organisations may be made in the same moment; these differ by their last character.
      firstIdAt('job', new Date(at)).slice(0, -1) + (organizationId === customer.organizationId ? 'a' : 'b'),
      organizationId,
      keyIds[mode],
      endpoint,
      status,
      mode !== 'test',
      mode === 'staging',
      charged,
      charged,
      at,
      status === 'queued' ? null : at,
    ],
  );
}

async function usage(parameters: string, of: Customer = customer) {
  const key = await api.identity.token({ organizationId: of.organizationId, role: 'billing_manager' });
  return api.call(`/mgmt/v1/usage${parameters}`, { key });
}

const rows = async (parameters: string) => (await usage(parameters)).json.data as Record<string, unknown>[];

describe('usage', () => {
  it('usage covers the last 30 UTC days by default, newest first, and puts no price on test credits', async () => {
    const { json } = await usage('');
    expect(json).toMatchObject({ object: 'usage', from: '2026-02-14', to: '2026-03-15' });
    expect(json.data).toEqual([
      {
        day: '2026-03-15',
        endpoint: null,
        api_key_id: null,
        mode: null,
        jobs: { total: 2, queued: 0, processing: 0, succeeded: 1, partial: 0, failed: 1, expired: 0, canceled: 0 },
        credits_charged: 20,
        charged_usd: '0.00',
      },
      expect.objectContaining({
        day: '2026-03-14',
        jobs: expect.objectContaining({ total: 3, succeeded: 1, partial: 1, queued: 1 }),
        credits_charged: 35,
        charged_usd: '0.015',
      }),
    ]);
  });

  it('usage covers the requested days, both inclusive', async () => {
    expect(await rows('?from=2026-02-13&to=2026-02-13')).toMatchObject([{ day: '2026-02-13', credits_charged: 99 }]);
    expect(await rows('?from=2026-02-14&to=2026-03-13')).toEqual([]);
  });

  it('usage can be grouped by endpoint, key and mode', async () => {
    const groups = await rows('?group_by=endpoint&group_by=api_key&group_by=mode');
    expect(
      groups.map(({ day, endpoint, api_key_id, mode, credits_charged }) => [
        day,
        endpoint,
        api_key_id,
        mode,
        credits_charged,
      ]),
    ).toEqual(
      [
        [null, 'dashboard.read', customer.keyIds.live, 'live', 15],
        [null, 'dashboard.read', customer.keyIds.test, 'test', 40],
        [null, 'plate.read', customer.keyIds.staging, 'staging', 0],
      ].toSorted(([, one, oneKey], [, two, twoKey]) => (`${one}${oneKey}` < `${two}${twoKey}` ? -1 : 1)),
    );
  });

  it.each([
    ['mode=live', 15],
    ['mode=staging', 0],
    ['mode=test', 40],
    ['endpoint=dashboard.read', 55],
    ['endpoint=plate.read', 0],
  ])('usage is filtered by %s', async (filter, charged) => {
    const groups = await rows(`?group_by=mode&${filter}`);
    expect(groups.reduce((sum, group) => sum + Number(group.credits_charged), 0)).toBe(charged);
    expect(groups.length).toBeGreaterThan(0);
  });

  it('usage is filtered by key', async () => {
    expect(await rows(`?group_by=mode&api_key_id=${customer.keyIds.live}`)).toMatchObject([{ credits_charged: 15 }]);
    expect(await rows(`?api_key_id=${other.keyIds.live}`)).toEqual([]);
  });

  it.each([
    ['from=2026-03-16', 'from'],
    ['from=2025-12-13&to=2026-03-15', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=yesterday', 'to'],
    ['to=9999-12-31', 'to'],
    ['to=0000-01-01', 'to'],
    ['from=0000-01-01&to=0000-01-02', 'from'],
    ['group_by=organization', 'group_by.0'],
    ['mode=real', 'mode'],
  ])('usage is refused with %s', async (parameters, param) => {
    expect(await usage(`?${parameters}`)).toMatchObject({
      status: 400,
      error: { code: 'parameter_invalid', param },
    });
  });

  it('usage is returned for 92 days', async () => {
    expect((await usage('?from=2025-12-14&to=2026-03-15')).status).toBe(200);
  });
});
