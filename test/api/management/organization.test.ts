/** The organisation, its jobs and its audit log, as its members see them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../../../src/platform/database/orm.ts';
import { newId } from '../../../src/platform/ids.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';
import { managing } from '../../support/management.ts';
import { read } from '../../support/requests.ts';

interface Entry {
  id: string;
  action: string;
  target_id: string;
  user_id: string;
  details: object;
}

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

const idsOf = ({ json }: Answer) => (json.data as { id: string }[]).map(({ id }) => id);
const entries = async (filter = '') => (await manage(`/audit-log?${filter}`)).json.data as Entry[];
const newKey = async (options: object = {}) => {
  const answer = await manage('/api-keys', { body: { name: 'Ours', livemode: false }, ...options });
  return answer.json as unknown as { id: string; secret: string };
};

describe('an organisation', () => {
  it('an organisation new to this service can be read by its id and renamed', async () => {
    const read = await manage('/organization');
    const created = expect.any(Number) as unknown as number;
    expect(read.json).toEqual({ id: organizationId, object: 'organization', name: organizationId, created });
    const renamed = await manage('/organization', { method: 'PATCH', body: { name: 'Garage' } });
    expect(renamed.json).toEqual({ ...read.json, name: 'Garage' });
    expect((await manage('/organization')).json).toEqual(renamed.json);
  });

  it('an organisation is created once, even by concurrent first requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => manage('/organization')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it.each([{}, { name: '' }, { name: 'x'.repeat(129) }, { name: 'x', id: 'org_11111111' }])(
    'an organisation is not changed by %j',
    async (body) => {
      expect((await manage('/organization', { method: 'PATCH', body })).status).toBe(400);
      expect((await manage('/organization')).json).toMatchObject({ name: organizationId });
    },
  );
});

describe('jobs', () => {
  let customer: Customer;
  let made: string[];

  beforeAll(async () => {
    customer = await createCustomer(api.orm);
    made = [];
    await query(api.orm.em.fork(), "insert into installed_endpoints values ('dashboard.read', 'reader@2026-01-01')");
    for (const mode of ['test', 'live', 'staging', 'test'] as const) {
      made.unshift((await read(api, { key: customer.keys[mode] })).job.id);
    }
  });
  const list = async (filter = '') => idsOf(await managing(api, customer.organizationId)(`/jobs?${filter}`));

  it('jobs of every mode are in one paged list, newest first', async () => {
    expect(await list()).toEqual(made);
    expect(await list('limit=3')).toEqual(made.slice(0, 3));
    expect(await list(`limit=3&starting_after=${made[2]}`)).toEqual(made.slice(3));
    expect(await list(`limit=2&ending_before=${made[3]}`)).toEqual(made.slice(1, 3));
    const page = await managing(api, customer.organizationId)('/jobs?limit=3');
    expect(page.json).toMatchObject({ object: 'list', has_more: true });
    expect((await managing(api, customer.organizationId)('/jobs?limit=4')).json).toMatchObject({ has_more: false });
  });

  it('jobs can be filtered by mode, endpoint, status, key and time', async () => {
    expect(await list('livemode=true')).toEqual(made.slice(1, 3));
    expect(await list('livemode=false')).toEqual([made[0], made[3]]);
    expect(await list(`api_key_id=${customer.keyIds.staging}`)).toEqual([made[1]]);
    expect(await list('endpoint=dashboard.read&status=queued')).toEqual(made);
    expect(await list('endpoint=vin.read')).toEqual([]);
    expect(await list('status=succeeded')).toEqual([]);
    expect(await list('created[lt]=1700000000')).toEqual([]);
  });

  it('jobs can be read one by one, as in the inference API', async () => {
    for (const [index, mode] of (['test', 'staging', 'live'] as const).entries()) {
      const id = made[index] as string;
      const asMember = await managing(api, customer.organizationId)(`/jobs/${id}`, { role: 'member' });
      const asKey = await api.call(`/v1/jobs/${id}`, { key: customer.keys[mode] });
      expect(asMember.json).toEqual(asKey.json);
    }
  });
});

describe('the audit log', () => {
  it('the audit log has one entry for every change, with user and target, and none for reads', async () => {
    const userId = newId('user');
    const { id } = await newKey({ userId, role: 'admin' });
    await manage(`/api-keys/${id}/rotate`, { body: { grace_seconds: 60 } });
    await manage('/organization', {
      method: 'PATCH',
      body: { name: 'Garage' },
      headers: { 'Request-Id': 'mine-12345' },
    });
    await manage('/api-keys');
    await manage('/organization');
    const [named, rotated, made] = await entries();
    expect(await entries()).toHaveLength(3);
    expect(named).toMatchObject({
      object: 'audit_log_entry',
      action: 'updateOrganization',
      target_id: organizationId,
      role: 'owner',
      details: { name: 'Garage' },
      request_id: 'mine-12345',
    });
    expect(rotated).toMatchObject({ action: 'rotateApiKey', target_id: id, details: { grace_seconds: 60 } });
    expect(made).toMatchObject({ action: 'createApiKey', target_id: id, user_id: userId, role: 'admin' });
  });

  it('the audit log has no entry for a refused request, and one for a repeated one', async () => {
    await newKey({ body: { name: '', livemode: false } }).catch(() => {});
    await manage('/api-keys', { body: { name: 'x', livemode: true }, role: 'member' });
    await manage(`/api-keys/${newId('apiKey')}/revoke`, { body: {} });
    expect(await entries()).toEqual([]);
    const idempotencyKey = randomUUID();
    await newKey({ idempotencyKey });
    await newKey({ idempotencyKey });
    expect(await entries()).toHaveLength(1);
  });

  it('an entry of the audit log commits together with the change', async () => {
    await query(api.orm.em.fork(), 'alter table audit_log_entries add constraint none check (false) not valid');
    try {
      const answer = await manage('/api-keys', { body: { name: 'Ours', livemode: false } });
      expect(answer.status).toBe(500);
      expect(idsOf(await manage('/api-keys'))).toEqual([]);
    } finally {
      await query(api.orm.em.fork(), 'alter table audit_log_entries drop constraint none');
    }
  });

  it('the audit log can be filtered by action, user, target and time, page by page', async () => {
    const userId = newId('user');
    const first = await newKey();
    const second = await newKey({ userId });
    await manage(`/api-keys/${first.id}/revoke`, { body: {} });
    const targets = async (filter: string) => (await entries(filter)).map(({ target_id }) => target_id);
    expect(await targets('action=createApiKey')).toEqual([second.id, first.id]);
    expect(await targets(`user_id=${userId}`)).toEqual([second.id]);
    expect(await targets(`target_id=${first.id}`)).toEqual([first.id, first.id]);
    expect(await targets('created[lt]=1700000000')).toEqual([]);
    const [newest] = await entries('limit=1');
    expect(await targets(`limit=1&starting_after=${newest?.id}`)).toEqual([second.id]);
  });

  it('the audit log shows entries of the own organisation only', async () => {
    await newKey();
    expect((await managing(api, newId('organization'))('/audit-log')).json).toMatchObject({ data: [] });
  });
});

it('every management response states the rate limit, and a request over it is refused', async () => {
  const answer = await manage('/organization');
  expect(answer.headers.get('RateLimit-Limit')).toBe('600');
  expect(answer.headers.get('RateLimit-Remaining')).toBe('599');
  await query(api.orm.em.fork(), "update rate_limits set requests = 600 where key like $1 || '%'", [organizationId]);
  const refused = await manage('/organization');
  expect(refused).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } });
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
});
