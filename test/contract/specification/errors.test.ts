/** The specification's table of errors, by HTTP. Those of SDK licences are in `sdk-licenses.test.ts`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import { ERRORS } from '../../../src/contracts/error-codes.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer, createKey } from '../../support/customers.ts';
import { anotherJpeg } from '../../support/pictures.ts';
import { DASHBOARD_READ, read } from '../../support/requests.ts';
import { documentOf, postPicture } from '../service.ts';

const ERROR_ROWS = [
  { status: 400, condition: 'wait on a video, 360 or bundle endpoint', code: 'wait_not_supported' },
  { status: 400, condition: 'a test scenario unknown to the endpoint', code: 'test_scenario_not_supported' },
  { status: 401, condition: 'an invalid API key', code: 'invalid_api_key' },
  { status: 402, condition: 'insufficient credits at admission', code: 'insufficient_credits' },
  { status: 403, condition: "a call outside the key's scopes", code: 'scope_not_granted' },
  { status: 409, condition: 'an Idempotency-Key with a different payload', code: 'idempotency_key_reuse' },
  { status: 429, condition: 'too many requests', code: 'rate_limit_exceeded' },
] as const;

/** The limit of a test key is a quarter, so the second request of a minute exceeds it. */
const LIMITED = 'vehicle.pose';

const document = documentOf(endpoints);
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi({
    endpoints: endpoints.map((endpoint: EndpointContract) =>
      endpoint.slug === LIMITED ? { ...endpoint, rateLimitPerMinute: 4 } : endpoint,
    ),
  });
});
afterAll(() => api.close());

const PROVOKED: Record<(typeof ERROR_ROWS)[number]['code'], () => Promise<Answer>> = {
  wait_not_supported: async () =>
    api.call('/v1/render/360?wait=true', {
      method: 'POST',
      key: (await createCustomer(api.orm)).keys.test,
      body: new FormData(),
    }),
  test_scenario_not_supported: async () =>
    read(api, { key: (await createCustomer(api.orm)).keys.test, scenario: 'no_such_scenario' }),
  invalid_api_key: () => read(api, { key: 'chk_test_that_nobody_was_given' }),
  insufficient_credits: async () => read(api, { key: (await createCustomer(api.orm, { test: 19 })).keys.test }),
  scope_not_granted: async () => {
    const { organizationId } = await createCustomer(api.orm);
    return read(api, { key: (await createKey(api.orm, organizationId, 'test', { scopes: ['render:write'] })).secret });
  },
  idempotency_key_reuse: async () => {
    const { keys } = await createCustomer(api.orm);
    const request = { key: keys.test, idempotencyKey: 'used-for-two-payloads' };
    await read(api, request);
    return read(api, { ...request, image: anotherJpeg() });
  },
  rate_limit_exceeded: async () => {
    const { keys } = await createCustomer(api.orm);
    await postPicture(api, LIMITED, keys.test);
    return postPicture(api, LIMITED, keys.test);
  },
};

describe('Error', () => {
  it.each(ERROR_ROWS)('the service returns $status for $condition', async ({ status, code }) => {
    const answer = await PROVOKED[code]();
    expect([answer.status, answer.error.code]).toEqual([status, code]);
    expect(ERRORS[code].status).toBe(status);
    expect(Object.keys(document.paths[DASHBOARD_READ]?.post?.responses ?? {})).toContain(String(status));
  });

  it('a 429 carries Retry-After and RateLimit-*', async () => {
    const { headers } = await PROVOKED.rate_limit_exceeded();
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    for (const name of ['Limit', 'Remaining', 'Reset', 'Policy'])
      expect(headers.get(`RateLimit-${name}`)).toMatch(/\d/);
  });
});
