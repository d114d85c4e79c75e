/** Live requests for parameter values that no installed model serves. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { announceInstalledEndpoints, renewInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { installEndpoints } from '../support/jobs.ts';
import { jpeg } from '../support/pictures.ts';
import { expectRefusal, filePart } from '../support/requests.ts';

const GAN = 'enhancer@2026-02-01';
const FINE_GRAIN = 'enhancer@2026-01-01';
const ENHANCER = {
  endpoint: 'render.enhance',
  modelVersion: GAN,
  otherVersions: [FINE_GRAIN],
  servedValues: {
    [GAN]: { enhancer_model: ['GAN'], operations: ['denoise', 'upscale'] },
    [FINE_GRAIN]: { enhancer_model: ['GAN', 'fine_grain'], operations: ['denoise'] },
  },
};

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
  await announceInstalledEndpoints(api.orm.em.fork(), [ENHANCER], []);
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
});

function enhance(
  fields: Record<string, string | string[]>,
  { key = customer.keys.live, query = '', headers = {} } = {},
) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
  body.append('image', filePart(jpeg), 'picture.jpg');
  return api.call(`/v1/render/enhance${query}`, { method: 'POST', key, headers, body });
}

it.each([
  [{ enhancer_model: 'fine_grain' }, 'enhancer_model'],
  [{ operations: ['reflection_removal', 'deblur'] }, 'operations'],
])('a value that the build does not serve is refused before anything is held: %j', async (fields, param) => {
  const { error } = await expectRefusal(api, () => enhance(fields), { code: 'endpoint_unavailable', param });
  expect(error.message).toContain('GET /v1/endpoints');
});

it('a dry run refuses a value that the build does not serve', async () => {
  const answer = await enhance({ enhancer_model: 'fine_grain' }, { query: '?dry_run=true' });
  expect([answer.status, answer.error.param]).toEqual([503, 'enhancer_model']);
});

it.each([{}, { enhancer_model: 'GAN' }, { operations: ['denoise', 'sharpen'] }])(
  'values that the build serves are admitted: %j',
  async (fields) => {
    expect((await enhance(fields)).status).toBe(202);
  },
);

it('the build that a request pins decides which values are served', async () => {
  const headers = { 'Model-Version': FINE_GRAIN };
  expect((await enhance({ enhancer_model: 'fine_grain' }, { headers })).status).toBe(202);
  expect((await enhance({ operations: 'upscale' }, { headers })).status).toBe(503);
});

it('test mode admits every value', async () => {
  expect((await enhance({ enhancer_model: 'fine_grain' }, { key: customer.keys.test })).status).toBe(202);
});

it('a request that was admitted while its value was served is replayed', async () => {
  const headers = { 'Idempotency-Key': 'served before' };
  const all = {
    ...ENHANCER,
    servedValues: { ...ENHANCER.servedValues, [GAN]: { enhancer_model: ['GAN', 'fine_grain'] } },
  };
  await announceInstalledEndpoints(api.orm.em.fork(), [all], []);
  const first = await enhance({ enhancer_model: 'fine_grain' }, { headers });
  await announceInstalledEndpoints(api.orm.em.fork(), [ENHANCER], []);
  const again = await enhance({ enhancer_model: 'fine_grain' }, { headers });
  expect([again.status, again.headers.get('Idempotent-Replayed'), again.text]).toEqual([202, 'true', first.text]);
});

it('GET /v1/endpoints lists the available values of each endpoint', async () => {
  await renewInstalledEndpoints(api.orm.em.fork(), [ENHANCER]);
  const valuesOf = async (slug: string, key = customer.keys.live) => {
    const { data } = (await api.call('/v1/endpoints', { key })).json as {
      data: { endpoint: string; available_values: unknown }[];
    };
    return data.find(({ endpoint }) => endpoint === slug)?.available_values;
  };
  expect(await valuesOf('render.enhance')).toEqual(ENHANCER.servedValues[GAN]);
  expect(await valuesOf('vin.read')).toEqual({});
  expect(await valuesOf('render.enhance', customer.keys.test)).toEqual({});
});
