/** Guarantees of every response, whatever the path. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { answerTo } from '../support/raw-request.ts';
import { DASHBOARD_READ, expectRefusal, read } from '../support/requests.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
  key = (await createCustomer(api.orm)).keys.test;
});
afterAll(() => api.close());

describe('an unknown path', () => {
  it.each([
    '/',
    '/v1',
    '/v1/unknown',
    '/v1/dashboard',
    '/v1/dashboard/read/more',
    '/v2/dashboard/read',
    '/%zz',
    // Variant spellings of existing paths.
    '/v1/endpoints/',
    '/v1/Endpoints',
    '/V1/endpoints',
    '/v1/jobs/',
    '/mgmt/v1/api-keys/',
    '/mgmt/v1/API-keys',
    '/v1/sdk-licenses/player/',
    '/health/live/',
  ])('the unknown path %s returns 404 with the error body', async (path) => {
    const answer = await expectRefusal(api, () => api.call(path, { key }), { code: 'resource_not_found' });
    expect(answer.status).toBe(404);
  });
});

it.each(['http://[/', 'http://[::1/', 'http://?x', 'foo://bar'])(
  'the target %s is refused and logged like any other request',
  async (path) => {
    const opened = request(api.url, { path, agent: false });
    opened.end();
    const answer = await answerTo(opened);
    expect(answer.status).toBe(400);
    expect(answer.error.code).toBe('malformed_request');
    const requestId = answer.headers.get('Request-Id');
    expect(answer.error.request_id).toBe(requestId);
    const line = await api.log.waitFor((line) => line.requestId === requestId);
    expect(line).toMatchObject({ msg: 'request', method: 'GET', status: 400, code: 'malformed_request' });
  },
);

it('an unknown path points to the reference of its API', async () => {
  expect((await api.call('/v1/unknown', { key })).error.message).toContain('GET /v1/endpoints');
  const managed = await api.call('/mgmt/v1/unknown');
  expect(managed.error.message).toMatch(/management API/);
  expect(managed.error.message).not.toContain('/v1/endpoints');
});

describe('unknown query parameters', () => {
  it.each([
    { method: 'GET', path: '/v1/endpoints' },
    { method: 'GET', path: '/v1/jobs' },
    { method: 'GET', path: '/v1/jobs/job_11111111' },
    { method: 'GET', path: '/v1/jobs/job_11111111/events' },
    { method: 'POST', path: '/v1/jobs/job_11111111/cancel' },
    { method: 'GET', path: '/v1/events' },
    { method: 'GET', path: '/v1/events/evt_11111111' },
    { method: 'POST', path: '/v1/uploads' },
    { method: 'GET', path: '/v1/uploads/upl_11111111' },
  ])('$method $path refuses an unknown query parameter', async ({ method, path }) => {
    const send = () => api.call(`${path}?dry_runn=true`, { method, key });
    await expectRefusal(api, send, { code: 'parameter_unknown', param: 'dry_runn' });
  });
});

describe('a wrong method', () => {
  it.each([
    { method: 'GET', path: DASHBOARD_READ, allowed: 'POST' },
    { method: 'PUT', path: DASHBOARD_READ, allowed: 'POST' },
    { method: 'POST', path: '/v1/jobs/job_11111111', allowed: 'GET' },
    { method: 'DELETE', path: '/v1/endpoints', allowed: 'GET' },
  ])('the wrong method of $method $path returns 405 and lists what is allowed', async ({ method, path, allowed }) => {
    const answer = await expectRefusal(api, () => api.call(path, { method, key }), { code: 'method_not_allowed' });
    expect(answer.headers.get('Allow')).toContain(allowed);
  });
});

describe('Service-Version', () => {
  it('Service-Version is echoed on every response', async () => {
    expect((await read(api, { key })).headers.get('Service-Version')).toBe('2026-10-04');
    expect((await read(api, {})).headers.get('Service-Version')).toBe('2026-10-04');
  });

  it('Service-Version with the version of the interface is accepted', async () => {
    expect((await read(api, { key, headers: { 'Service-Version': '2026-10-04' } })).status).toBe(202);
  });

  it.each(['2025-01-01', 'latest', '2026-10-04, 2026-10-04', ''])(
    'Service-Version "%s" is refused',
    async (version) => {
      await expectRefusal(api, () => read(api, { key, headers: { 'Service-Version': version } }), {
        code: 'unsupported_version',
        param: 'Service-Version',
      });
    },
  );
});

describe('Request-Id', () => {
  it.each(['/v1/endpoints', '/unknown', '/health/live', '/openapi.json'])(
    'Request-Id is on the response of %s',
    async (path) => {
      expect((await api.call(path)).headers.get('Request-Id')).toMatch(/^req_[1-9A-HJ-NP-Za-km-z]{22}$/);
    },
  );

  it("Request-Id is the caller's, if valid", async () => {
    const answer = await api.call('/unknown', { headers: { 'Request-Id': 'my-request.0001' } });
    expect(answer.headers.get('Request-Id')).toBe('my-request.0001');
    expect(answer.error.request_id).toBe('my-request.0001');
  });

  it.each(['short', 'with spaces in it', '<script>alert(1)</script>', 'x'.repeat(129)])(
    'Request-Id replaces the unusable %s',
    async (id) => {
      expect((await api.call('/unknown', { headers: { 'Request-Id': id } })).headers.get('Request-Id')).toMatch(
        /^req_/,
      );
    },
  );

  it('Request-Id is in the log line of its request', async () => {
    const requestId = 'logged-exactly-once';
    await api.call('/v1/endpoints', { key, headers: { 'Request-Id': requestId } });
    const line = await api.log.waitFor((line) => line.requestId === requestId);
    expect(line).toMatchObject({ method: 'GET', path: '/v1/endpoints', status: 200 });
    expect(api.log.lines.filter((text) => text.includes(requestId))).toHaveLength(1);
  });
});

describe('an id that the database cannot store', () => {
  it.each([`job_${'1'.repeat(5_000)}`, '%F0%9F%9A%97', '%ED%A0%80', "'; drop table jobs; --"])(
    'the id %s returns 404 like an unknown one',
    async (id) => {
      for (const collection of ['jobs', 'uploads', 'events']) {
        await expectRefusal(api, () => api.call(`/v1/${collection}/${id}`, { key }), {
          code: 'resource_not_found',
          param: 'id',
        });
      }
    },
  );

  it.each(['/v1/jobs/%00', '/v1/uploads/upl_%00', '/v1/jobs?starting_after=%00', '/v1/%00'])(
    '%s is refused because the database cannot store its id',
    async (path) => {
      await expectRefusal(api, () => api.call(path, { key }), { code: 'malformed_request' });
    },
  );
});

describe('the pages behind doc_url', () => {
  it.each(Object.keys(ERRORS))('the page of the error %s exists behind doc_url', async (code) => {
    const page = await api.call(`/docs/errors/${code}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain(code);
  });

  it.each(['unknown', '..%2F..%2Fpackage', 'toString', 'README'])(
    'the page of the error %s does not exist',
    async (code) => {
      expect((await api.call(`/docs/errors/${code}`)).status).toBe(404);
    },
  );
});

it('health endpoints need no key', async () => {
  expect((await api.call('/health/live')).json).toEqual({ status: 'ok' });
  expect((await api.call('/health/ready')).json).toEqual({ status: 'ok' });
});
