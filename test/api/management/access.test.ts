/** Who gets in to the management API, and who does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';

const PATH = '/mgmt/v1/api-key-scopes';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());

describe('a token', () => {
  it('a token of an owner is accepted', async () => {
    const answer = await api.call(PATH, { key: await api.identity.token() });
    expect(answer).toMatchObject({ status: 200, json: { data: expect.arrayContaining(['jobs:read']) } });
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
  });

  it('a token of a role without the permission is refused', async () => {
    const answer = await api.call(PATH, { key: await api.identity.token({ role: 'member' }) });
    expect(answer).toMatchObject({ status: 403, error: { code: 'role_not_permitted' } });
  });

  it('a token is refused after its expiry', async () => {
    const key = await api.identity.token({}, { expiresAt: new Date(Date.now() - 60_000) });
    expect(await api.call(PATH, { key })).toMatchObject({ status: 401, error: { code: 'token_expired' } });
  });

  it.each([
    ['another audience', { aud: 'somebody-else' }],
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['an unknown role', { role: 'root' }],
    ['no organisation', { org_id: undefined }],
    ['an invalid user id', { sub: newId('apiKey') }],
  ])('a token with %s is refused', async (_name, claims) => {
    const answer = await api.call(PATH, { key: await api.identity.token({}, { claims }) });
    expect(answer).toMatchObject({ status: 401, error: { code: 'invalid_token' } });
  });

  it('a token is refused by the inference API, which says that it is a token', async () => {
    const answer = await api.call('/v1/endpoints', { key: await api.identity.token() });
    expect(answer).toMatchObject({
      status: 401,
      error: { code: 'invalid_api_key', message: expect.stringContaining('JSON Web Token') },
    });
  });
});

it('a management request without a token is refused', async () => {
  expect(await api.call(PATH)).toMatchObject({ status: 401, error: { code: 'missing_token' } });
});

it.each(['live', 'staging', 'test'] as const)(
  'a %s API key is refused on the management API with what to send instead',
  async (mode) => {
    const answer = await api.call(PATH, { key: customer.keys[mode] });
    expect(answer).toMatchObject({
      status: 401,
      error: { code: 'invalid_token', message: expect.stringMatching(/is an API key.*needs the JSON Web Token/) },
    });
  },
);
