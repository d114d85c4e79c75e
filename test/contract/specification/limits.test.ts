/** The specification's table of limits. Those of management's bodies are with their resources. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAIT_CEILING_MS } from '../../../src/api/app.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { endpointPath } from '../../../src/endpoints/shared/endpoint-path.ts';
import { SLOW_SCENARIO_MS } from '../../../src/inference/backends/fixture-backend.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { DELIVERY_BACKOFF_MS } from '../../../src/webhooks/backoff-schedule.ts';
import { RESPONSE_TIMEOUT_MS } from '../../../src/webhooks/response-rules.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer } from '../../support/customers.ts';
import { jpegOfSize } from '../../support/pictures.ts';
import { DASHBOARD_READ, read, upload } from '../../support/requests.ts';
import { documentOf, expectMet, postJson, postPicture } from '../service.ts';
import type { Schema } from './fields.ts';

const MEGABYTE = 1024 * 1024;

const LIMITS = [
  { limit: 'a file sent as multipart', value: 10 * MEGABYTE },
  { limit: 'a file sent to the driver licence reader as multipart', value: 20 * MEGABYTE },
  { limit: 'the ceiling of wait in seconds', value: 30 },
  { limit: 'the shortest Idempotency-Key', value: 8 },
  { limit: 'the longest Idempotency-Key', value: 255 },
  { limit: 'hours for which an idempotent response is stored', value: 24 },
  { limit: 'images of the driver licence reader', value: 2 },
  { limit: 'images of pricing', value: 30 },
  { limit: 'seconds that a webhook destination has to answer', value: 10 },
  { limit: 'hours for which a delivery is retried', value: 24 },
  { limit: 'seconds that the slow scenario takes', value: 30 },
] as const;

const document = documentOf(endpoints);
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** Tells whether files of this many bytes, and of one more, are taken. */
async function takesBytes(slug: string, bytes: number): Promise<boolean[]> {
  const { keys } = await createCustomer(api.orm);
  const statuses: number[] = [];
  for (const size of [bytes, bytes + 1]) {
    statuses.push((await postPicture(api, slug, keys.test, { picture: jpegOfSize(size) })).status);
  }
  return statuses.map((status) => status === 202);
}

/** Tells whether as many pictures, and one more, are taken. */
async function takesPictures(slug: string, count: number, parameters: object): Promise<boolean[]> {
  const { keys } = await createCustomer(api.orm);
  const id = await upload(api, keys.test);
  const statuses: number[] = [];
  for (const pictures of [count, count + 1]) {
    const input_refs = Array.from({ length: pictures }, () => id);
    statuses.push((await postJson(api, endpointPath(slug), keys.test, { input_refs, ...parameters })).status);
  }
  return statuses.map((status) => status === 202);
}

const HELD: Record<(typeof LIMITS)[number]['limit'], (value: number) => Promise<void>> = {
  'a file sent as multipart': async (bytes) => expect(await takesBytes('tire.read', bytes)).toEqual([true, false]),
  'a file sent to the driver licence reader as multipart': async (bytes) =>
    expect(await takesBytes('driver_license.read', bytes)).toEqual([true, false]),
  'the ceiling of wait in seconds': async (seconds) => expect(WAIT_CEILING_MS).toBe(seconds * 1_000),
  'the shortest Idempotency-Key': async (length) => expect(idempotencyKeySchema().minLength).toBe(length),
  'the longest Idempotency-Key': async (length) => expect(idempotencyKeySchema().maxLength).toBe(length),
  'hours for which an idempotent response is stored': async (hours) => {
    const { keys, organizationId } = await createCustomer(api.orm);
    await read(api, { key: keys.test, idempotencyKey: 'kept-for-a-day' });
    const [row] = await query<{ hours: string }>(
      api.orm.em.fork(),
      `select extract(epoch from expires_at - now()) / 3600 as hours from idempotency_claims
       where organization_id = $1`,
      [organizationId],
    );
    expect(Number(row?.hours)).toBeCloseTo(hours, 1);
  },
  'images of the driver licence reader': async (count) =>
    expect(await takesPictures('driver_license.read', count, {})).toEqual([true, false]),
  'images of pricing': async (count) =>
    expect(await takesPictures('pricing.vehicle', count, { vehicle: { vin: '7ZZBX2C45N1048215' } })).toEqual([
      true,
      false,
    ]),
  'seconds that a webhook destination has to answer': async (seconds) =>
    expect(RESPONSE_TIMEOUT_MS).toBe(seconds * 1_000),
  'hours for which a delivery is retried': async (hours) => {
    const waits = DELIVERY_BACKOFF_MS.filter((wait) => wait > 0);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe(hours * 3_600_000);
  },
  'seconds that the slow scenario takes': async (seconds) =>
    expect(Math.abs(SLOW_SCENARIO_MS / 1_000 - seconds)).toBeLessThanOrEqual(5),
};

const idempotencyKeySchema = () =>
  document.paths[DASHBOARD_READ]?.post?.parameters?.find(({ name }) => name === 'Idempotency-Key')?.schema as Schema;

describe('Limit', () => {
  it.each(LIMITS)('the specified limit holds for $limit: $value', ({ limit, value }) => expectMet(HELD[limit], value));
});
