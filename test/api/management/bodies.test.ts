/** What bodies and filters the management API takes: JSON that is bounded, and nothing that only looks like it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../src/api/management/operations.ts';
import { EVENT_TYPES } from '../../../src/contracts/job.ts';
import { SCOPE_CATALOGUE } from '../../../src/organizations/scopes.ts';
import { newId } from '../../../src/platform/ids.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer } from '../../support/customers.ts';
import { managing } from '../../support/management.ts';

let api: TestApi;
let organizationId: string;
let manage: ReturnType<typeof managing>;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(() => {
  organizationId = newId('organization');
  manage = managing(api, organizationId);
});

/** Sends a body unchanged. */
async function send(path: string, body: string | Uint8Array<ArrayBuffer> | null, contentType: string | null) {
  const key = await api.identity.token({ organizationId });
  const headers = { ...(contentType !== null && { 'Content-Type': contentType }) };
  return api.call(`/mgmt/v1${path}`, { method: 'POST', key, headers, ...(body !== null && { body }) });
}

const told = ({ status, text }: Answer) => [status, JSON.parse(text).error?.code, JSON.parse(text).error?.param];
const utf8 = (text: string) => new TextEncoder().encode(text);
const KEY = '{"name":"Ours","livemode":false}';

describe('a body', () => {
  it.each([
    ['JSON', 'application/json', 201],
    ['JSON with a character set', 'application/json; charset=utf-8', 201],
    ['text', 'text/plain', 415],
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['other JSON', 'application/merge-patch+json', 415],
    ['nothing', null, 415],
    ['a malformed type', 'json', 415],
  ])('a body with the type %s gets %3$i', async (_name, contentType, status) => {
    const answer = await send('/api-keys', utf8(KEY), contentType);
    expect(told(answer).slice(0, 2)).toEqual([status, status === 415 ? 'unsupported_media_type' : undefined]);
  });

  it('a body may be omitted when nothing is required, and then needs no type', async () => {
    const customer = await createCustomer(api.orm);
    organizationId = customer.organizationId;
    const id = customer.keyIds.test;
    expect((await send(`/api-keys/${id}/rotate`, null, null)).status).toBe(200);
    expect((await send(`/api-keys/${id}/revoke`, '', 'text/plain')).status).toBe(200);
  });

  it('a body that is not UTF-8 is refused, not repaired', async () => {
    const bytes = utf8(KEY);
    bytes[bytes.indexOf('O'.charCodeAt(0))] = 0xff;
    expect(told(await send('/api-keys', bytes, 'application/json'))).toEqual([400, 'malformed_request', undefined]);
    expect((await manage('/api-keys')).json.data).toEqual([]);
  });

  it('a body with a duplicate name is refused', async () => {
    const twice = '{"name":"Ours","livemode":false,"name":"Theirs"}';
    expect(told(await send('/api-keys', twice, 'application/json'))).toEqual([400, 'parameter_invalid', 'name']);
    expect((await manage('/api-keys')).json.data).toEqual([]);
  });

  it.each([
    ['a key with a name of blanks', 'POST', '/api-keys', { name: ' \t ', livemode: false }, 'name'],
    ['an organisation with a name of blanks', 'PATCH', '/organization', { name: '   ' }, 'name'],
    [
      'more scopes than there are',
      'POST',
      '/api-keys',
      { name: 'x', livemode: false, scopes: Array.from({ length: SCOPE_CATALOGUE.length + 1 }, () => 'jobs:read') },
      'scopes',
    ],
    [
      'more events than there are',
      'POST',
      '/webhook-endpoints',
      {
        url: 'https://hooks.example/',
        livemode: false,
        events: Array.from({ length: EVENT_TYPES.length + 1 }, () => 'job.succeeded'),
      },
      'events',
    ],
    [
      'a URL of two lines',
      'POST',
      '/webhook-endpoints',
      { url: 'http://127.0.0.1/a\nb', livemode: false, events: ['job.succeeded'] },
      'url',
    ],
  ])('a body with %s is refused', async (_name, method, path, body, param) => {
    expect(told(await manage(path, { method, body }))).toEqual([400, 'parameter_invalid', param]);
  });
});

interface Bounded {
  type?: string;
  enum?: unknown[];
  anyOf?: Bounded[];
  properties?: Record<string, Bounded>;
  additionalProperties?: boolean;
  items?: Bounded;
  maxItems?: number;
  maxLength?: number;
}

/** The most characters that a value of a schema has as JSON, without its names; NaN where there is no most. */
function mostCharacters(schema: Bounded): number {
  const { type, enum: values, anyOf, properties = {}, items = {}, maxItems = Number.NaN } = schema;
  if (values) return Math.max(...values.map((value) => String(value).length));
  if (anyOf) return Math.max(...anyOf.map(mostCharacters));
  switch (type) {
    case 'object': {
      if (schema.additionalProperties !== false) return Number.NaN;
      return Object.values(properties).reduce((sum, property) => sum + mostCharacters(property), 0);
    }
    case 'array':
      return maxItems * mostCharacters(items);
    case 'string':
      return schema.maxLength ?? Number.NaN;
    case 'integer':
    case 'boolean':
    case 'null':
      return 20;
    default:
      return Number.NaN;
  }
}

const withBodies = operations.flatMap(({ id, body }) => (body ? [{ id, body }] : []));

it.each(withBodies)('$id has a bounded body, and so a bounded entry in the audit log', ({ body }) => {
  expect(mostCharacters(body as Bounded)).toBeLessThan(5_000);
});

it('the audit log can be filtered by existing actions only', async () => {
  expect(told(await manage('/audit-log?action=nope'))).toEqual([400, 'parameter_invalid', 'action']);
  expect(told(await manage('/audit-log?action=listApiKeys'))).toEqual([400, 'parameter_invalid', 'action']);
  for (const { id } of operations.filter(({ method }) => method !== 'get')) {
    expect((await manage(`/audit-log?action=${id}`)).status).toBe(200);
  }
});
