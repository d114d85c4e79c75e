/** The specification's table of management operations: roles, requests and responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../../src/organizations/roles.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { managing } from '../../support/management.ts';
import { expectReplay } from '../../support/requests.ts';

interface OperationRow {
  operation: string;
  roles: readonly Role[];
  body?: object;
  status: number;
  /** The response, beyond what tests of the resource prove. */
  answer: unknown;
}

const ADMINISTRATORS = ['owner', 'admin'] as const;
const NEW_KEY = { name: 'Contract', is_staging: false, scopes: ['jobs:read'] };
const NEW_ENDPOINT = { url: 'https://1.1.1.1/hook', events: ['job.succeeded'], livemode: true };
const SECRET = { secret: expect.any(String) };

const OPERATIONS: readonly OperationRow[] = [
  {
    operation: 'GET /sdk-licenses',
    roles: ROLES,
    status: 200,
    answer: { data: Array(4).fill(expect.objectContaining({ state: 'unassigned' })) },
  },
  {
    operation: 'GET /api-key-scopes',
    roles: ADMINISTRATORS,
    status: 200,
    answer: { data: expect.arrayContaining(['sdk:player:read', 'sdk:player:write', 'jobs:read']) },
  },
  {
    operation: 'POST /api-keys',
    roles: ADMINISTRATORS,
    body: { ...NEW_KEY, livemode: true },
    status: 201,
    answer: expect.objectContaining({ object: 'api_key', ...SECRET }),
  },
  {
    operation: 'POST /api-keys',
    roles: [...ADMINISTRATORS, 'member'],
    body: { ...NEW_KEY, livemode: false },
    status: 201,
    answer: expect.objectContaining({ object: 'api_key', livemode: false, ...SECRET }),
  },
  {
    operation: 'POST /webhook-endpoints',
    roles: ADMINISTRATORS,
    body: NEW_ENDPOINT,
    status: 201,
    answer: expect.objectContaining({ object: 'webhook_endpoint', ...SECRET }),
  },
];

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

describe.each(OPERATIONS)('$operation with $body', ({ operation, roles, body, status, answer }) => {
  const [, path = ''] = operation.split(' ');

  it.each(ROLES)(`${operation} follows the specification for the role %s`, async (role) => {
    const asked = await managing(api, newId('organization'))(path, { role, body });
    if (roles.includes(role)) expect([asked.status, asked.json]).toEqual([status, answer]);
    else expect([asked.status, asked.error.code]).toEqual([403, 'role_not_permitted']);
  });
});

describe.each(OPERATIONS.filter(({ body }) => body))('$operation with $body', ({ operation, body }) => {
  it(`${operation} accepts an Idempotency-Key`, async () => {
    const [, path = ''] = operation.split(' ');
    const manage = managing(api, newId('organization'));
    const send = () => manage(path, { body, idempotencyKey: 'made-once-only' });
    const first = await send();
    expectReplay(await send(), first);
    expect((await manage(path)).json.data).toHaveLength(1);
  });
});

it('every scope of the catalogue can be granted to a key', async () => {
  const manage = managing(api, newId('organization'));
  const scopes = (await manage('/api-key-scopes')).json.data;
  expect((await manage('/api-keys', { body: { ...NEW_KEY, livemode: true, scopes } })).json).toMatchObject({ scopes });
});
