import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { query } from '../../src/platform/database/orm.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { installEndpoints } from '../support/jobs.ts';
import { expectRefusal, read } from '../support/requests.ts';

const limited: EndpointContract = { ...endpointBySlug('dashboard.read'), rateLimitPerMinute: 14 };

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ endpoints: [limited] });
  await installEndpoints(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
});

const send = (key: string) => read(api, { key });

async function spend(key: string, requests: number): Promise<void> {
  for (let sent = 0; sent < requests; sent += 1) expect((await send(key)).status).toBe(202);
}

describe('a live key', () => {
  it('a live key may send the stated requests per minute; one more gets 429 with Retry-After', async () => {
    await spend(customer.keys.live, 14);
    const answer = await expectRefusal(api, () => send(customer.keys.live), { code: 'rate_limit_exceeded' });
    expect(answer.status).toBe(429);
    const seconds = Number(answer.headers.get('Retry-After'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(answer.headers.get('RateLimit-Remaining')).toBe('0');
    expect(answer.headers.get('RateLimit-Reset')).toBe(String(seconds));
  });

  it('a live key shares the limit with the other live keys of its organisation', async () => {
    const other = await createKey(api.orm, customer.organizationId, 'live');
    await spend(customer.keys.live, 7);
    await spend(other.secret, 7);
    await expectRefusal(api, () => send(other.secret), { code: 'rate_limit_exceeded' });
  });

  it('a live key does not share the limit with test keys, other organisations or reads', async () => {
    await spend(customer.keys.live, 14);
    await spend(customer.keys.test, 1);
    await spend((await createCustomer(api.orm)).keys.live, 1);
    expect((await api.call('/v1/endpoints', { key: customer.keys.live })).status).toBe(200);
  });
});

describe('a test key', () => {
  it('a test key may send a quarter of the live limit, rounded down', async () => {
    const { headers } = await send(customer.keys.test);
    expect(headers.get('RateLimit-Limit')).toBe('3');
    await spend(customer.keys.test, 2);
    await expectRefusal(api, () => send(customer.keys.test), { code: 'rate_limit_exceeded' });
  });
});

it.each(['live', 'staging', 'test'] as const)('GET /v1/endpoints states the limit of a %s key', async (mode) => {
  const { headers } = await send(customer.keys[mode]);
  const { json } = await api.call('/v1/endpoints', { key: customer.keys[mode] });
  expect(json.data).toMatchObject([{ rate_limit_per_minute: Number(headers.get('RateLimit-Limit')) }]);
});

it('every response states the limit, the remainder and the reset', async () => {
  const { headers } = await send(customer.keys.live);
  expect(headers.get('RateLimit-Limit')).toBe('14');
  expect(headers.get('RateLimit-Remaining')).toBe('13');
  expect(Number(headers.get('RateLimit-Reset'))).toBeGreaterThan(50);
  expect(headers.get('RateLimit-Policy')).toBe('14;w=60');
  const reads = await api.call('/v1/endpoints', { key: customer.keys.live });
  expect(reads.headers.get('RateLimit-Policy')).toBe('3000;w=60');
});

it('a request without the required scope counts and carries the rate-limit headers', async () => {
  const powerless = await createKey(api.orm, customer.organizationId, 'live', { scopes: ['jobs:read'] });
  const refused = await expectRefusal(api, () => send(powerless.secret), { code: 'scope_not_granted' });
  expect(refused.headers.get('RateLimit-Remaining')).toBe('13');
  expect((await send(customer.keys.live)).headers.get('RateLimit-Remaining')).toBe('12');
});

describe('a request for an unknown path', () => {
  it.each([
    ['GET', '/v1/unknown', 404],
    ['POST', '/v1/unknown', 404],
    ['DELETE', '/v1/jobs', 405],
    ['GET', '/v1/dashboard/read', 405],
    ['GET', '/v1/jobs/job_11111111', 404],
  ])('%s %s counts as a read, and gets the remaining limit', async (method, path, status) => {
    const answer = await api.call(path, { method, key: customer.keys.live });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('RateLimit-Policy')).toBe('3000;w=60');
    expect(answer.headers.get('RateLimit-Remaining')).toBe('2999');
  });

  it('a request for an unknown path gets 429 once the reads are used up', async () => {
    await api.call('/v1/unknown', { key: customer.keys.live });
    await query(api.orm.em.fork(), 'update rate_limits set requests = 3000');
    const send = () => api.call('/v1/unknown', { key: customer.keys.live });
    await expectRefusal(api, send, { code: 'rate_limit_exceeded' });
  });

  it('a request for an unknown management path counts by the organisation of its token', async () => {
    const { organizationId } = customer;
    const call = async (method: string, path: string) =>
      api.call(path, { method, key: await api.identity.token({ organizationId, role: 'billing_manager' }) });
    const answers = [
      await call('GET', '/mgmt/v1/unknown'),
      await call('DELETE', '/mgmt/v1/jobs'),
      await call('GET', '/mgmt/v1/audit-log'),
      await call('GET', '/mgmt/v1/jobs/job_11111111'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 403, 403]);
    const left = answers.map(({ headers }) => headers.get('RateLimit-Remaining'));
    expect(left).toEqual(['599', '598', '597', '596']);
  });

  it.each(['chk_test_unknown', 'x', ''])(
    'a request for an unknown path with the unusable key "%s" gets 404 and no rate limit',
    async (key) => {
      for (const path of ['/v1/unknown', '/mgmt/v1/unknown', '/docs/unknown']) {
        const answer = await expectRefusal(api, () => api.call(path, { key }), { code: 'resource_not_found' });
        expect(answer.headers.get('RateLimit-Limit')).toBeNull();
      }
    },
  );
});

describe('the concurrency limit', () => {
  const told = ({ headers }: Answer) => [headers.get('Concurrency-Limit'), headers.get('Concurrency-Remaining')];

  it('the concurrency limit is on every inference response, and the remainder on dry runs and refusals', async () => {
    const roomy = await startTestApi({ endpoints: [limited], openJobsLimit: 2 });
    const { keys } = await createCustomer(roomy.orm);
    const submit = (parameters = '') => read(roomy, { key: keys.test, query: parameters });
    try {
      expect(told(await submit('?dry_run=true'))).toEqual(['2', '2']);
      expect(told(await submit())).toEqual(['2', null]);
      expect(told(await submit('?dry_run=true'))).toEqual(['2', '1']);
      await query(roomy.orm.em.fork(), 'delete from rate_limits');
      expect(told(await submit('?dry_run=maybe'))).toEqual(['2', null]);
      await submit();
      const refused = await expectRefusal(roomy, submit, { code: 'concurrency_limit_exceeded' });
      expect(told(refused)).toEqual(['2', '0']);
    } finally {
      await roomy.close();
    }
  });
});

it('a new minute opens a new window of the rate limit', async () => {
  await spend(customer.keys.live, 14);
  await query(api.orm.em.fork(), 'update rate_limits set resets_at = now() where key like $1', [
    `%${customer.organizationId}%`,
  ]);
  expect((await send(customer.keys.live)).headers.get('RateLimit-Remaining')).toBe('13');
});

it('half of twice the allowed concurrent requests are admitted', async () => {
  const answers = await Promise.all(Array.from({ length: 28 }, () => send(customer.keys.live)));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(14);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(14);
});

it('a request refused for another reason counts towards the rate limit', async () => {
  const wrong = await api.call('/v1/dashboard/read', { method: 'POST', key: customer.keys.live });
  expect(wrong.status).toBe(415);
  expect(wrong.headers.get('RateLimit-Remaining')).toBe('13');
});
