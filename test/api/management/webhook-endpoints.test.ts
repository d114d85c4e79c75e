/** Webhook endpoints: what they receive, and where. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../../../src/platform/database/orm.ts';
import { newId } from '../../../src/platform/ids.ts';
import { WebhookEndpoint } from '../../../src/webhooks/entities.ts';
import { activeSecrets } from '../../../src/webhooks/signing-secrets.ts';
import { findWebhookUrlProblem } from '../../../src/webhooks/webhook-target.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const PATH = '/mgmt/v1/webhook-endpoints';
const BODY = { url: 'https://hooks.example.com/a', events: ['job.succeeded'], livemode: true };

/** What the name server of these tests knows. */
const ADDRESSES: Record<string, string[]> = {
  'hooks.example.com': ['93.184.215.14'],
  'other.example.com': ['93.184.215.15'],
  'inside.example.com': ['93.184.215.14', '10.0.0.7'],
};

let api: TestApi;
let organizationId: string;
let key: string;
let now: Date;
let lookups: string[];

beforeAll(async () => {
  api = await startTestApi({
    clock: () => now,
    findWebhookUrlProblem: (url) =>
      findWebhookUrlProblem(url, {
        allowPrivateTargets: false,
        async resolveHost(hostname) {
          lookups.push(hostname);
          return ADDRESSES[hostname] ?? [];
        },
      }),
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  now = new Date();
  lookups = [];
  organizationId = newId('organization');
  key = await api.identity.token({ organizationId, role: 'admin' });
});

function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  return api.call(`${PATH}${path}`, {
    method,
    key,
    headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function make(changes: object = {}): Promise<Record<string, unknown> & { id: string; secret: string }> {
  const answer = await send('POST', '', { ...BODY, ...changes });
  expect(answer.status).toBe(201);
  return answer.json as { id: string; secret: string };
}

const read = async (id: string) => (await send('GET', `/${id}`)).json;
const row = (id: string) => api.orm.em.fork().findOneOrFail(WebhookEndpoint, { id });

describe('a new endpoint', () => {
  it('a new webhook endpoint is returned with 201 and its secret, which no other response shows and the database holds sealed', async () => {
    const { secret, ...endpoint } = await make({ description: 'Results', events: ['job.failed', 'job.failed'] });
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^whe_/),
      object: 'webhook_endpoint',
      url: BODY.url,
      description: 'Results',
      events: ['job.failed'],
      status: 'enabled',
      livemode: true,
      is_staging: false,
      created: Math.floor(now.getTime() / 1_000),
      consecutive_failures: 0,
      failing_since: null,
      last_success_at: null,
      last_error: null,
      previous_secret_expires_at: null,
    });
    expect(await read(endpoint.id)).toEqual(endpoint);
    const stored = await query(api.orm.em.fork(), 'select * from webhook_endpoints where id = $1', [endpoint.id]);
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length));
    expect(activeSecrets(await row(endpoint.id), api.sealedSecrets, now)).toEqual([secret]);
  });

  it('a new webhook endpoint repeated with the same Idempotency-Key is the same, byte for byte, secret included', async () => {
    const headers = { 'Idempotency-Key': 'endpoint-0001' };
    const first = await send('POST', '', BODY, headers);
    const again = await send('POST', '', BODY, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await send('GET', '')).json.data).toHaveLength(1);
    const claims = await query(api.orm.em.fork(), 'select * from idempotency_claims where organization_id = $1', [
      organizationId,
    ]);
    expect(JSON.stringify(claims)).not.toContain(String(first.json.secret));
  });

  it.each([
    ['http', { url: 'http://hooks.example.com/' }, 'url'],
    ['credentials in its URL', { url: 'https://user:password@hooks.example.com/' }, 'url'],
    ['a host that is nowhere', { url: 'https://nobody.example.com/' }, 'url'],
    ['a host with one inside address', { url: 'https://inside.example.com/' }, 'url'],
    ['a loopback address', { url: 'https://127.0.0.1/' }, 'url'],
    ['a metadata address', { url: 'https://169.254.169.254/' }, 'url'],
    ['an IPv4-mapped address', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    ['an address in hexadecimal', { url: 'https://0x7f000001/' }, 'url'],
    ['an empty URL', { url: '' }, 'url'],
    ['no events', { events: [] }, 'events'],
    ['an unknown event', { events: ['job.canceled'] }, 'events.0'],
    ['a description of 256 characters', { description: 'x'.repeat(256) }, 'description'],
    ['staging without livemode', { livemode: false, is_staging: true }, 'is_staging'],
  ])('a new webhook endpoint with %s is refused', async (_name, changes, param) => {
    const answer = await send('POST', '', { ...BODY, ...changes });
    expect(answer).toMatchObject({ status: 400, error: { code: 'parameter_invalid', param } });
    expect((await send('GET', '')).json.data).toEqual([]);
  });

  it.each(['url', 'events', 'livemode'])('a new webhook endpoint without %s is refused', async (param) => {
    const answer = await send('POST', '', { ...BODY, [param]: undefined });
    expect(answer).toMatchObject({ status: 400, error: { code: 'parameter_missing', param } });
  });

  it('a new webhook endpoint with a description of 255 characters, for staging, is created', async () => {
    const endpoint = await make({ description: 'x'.repeat(255), is_staging: true });
    expect(endpoint).toMatchObject({ livemode: true, is_staging: true });
  });

  it('a new webhook endpoint is at most the 20th of its mode, even with concurrent requests', async () => {
    for (let count = 1; count < 20; count += 1) await make();
    const answers = await Promise.all([1, 2, 3, 4].map(() => send('POST', '', BODY)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.error.code).toBe('webhook_endpoint_limit_reached');
    await make({ is_staging: true });
    await make({ livemode: false });
  });
});

describe('the list of webhook endpoints', () => {
  it('the list of webhook endpoints runs from newest to oldest, by page and by mode', async () => {
    const live = await make();
    const staging = await make({ is_staging: true });
    const test = await make({ livemode: false });
    const ids = async (search: string) =>
      ((await send('GET', search)).json.data as { id: string }[]).map(({ id }) => id);
    expect(await ids('')).toEqual([test.id, staging.id, live.id]);
    expect(await ids('?livemode=true')).toEqual([staging.id, live.id]);
    expect(await ids('?livemode=true&is_staging=false')).toEqual([live.id]);
    expect(await ids(`?limit=1&starting_after=${test.id}`)).toEqual([staging.id]);
  });
});

describe('changes of a webhook endpoint', () => {
  it('a change of one field of a webhook endpoint leaves the others unchanged', async () => {
    const { secret: _, ...endpoint } = await make({ description: 'a' });
    const changed = await send('PATCH', `/${endpoint.id}`, { events: ['job.partial', 'job.failed'] });
    expect(changed.json).toEqual({ ...endpoint, events: ['job.partial', 'job.failed'] });
    expect(lookups).toEqual(['hooks.example.com']);
  });

  it('a change of the URL of a webhook endpoint is checked like a new one', async () => {
    const { id } = await make();
    const refused = await send('PATCH', `/${id}`, { url: 'https://inside.example.com/' });
    expect(refused).toMatchObject({ status: 400, error: { param: 'url' } });
    expect(await read(id)).toMatchObject({ url: BODY.url });
    await send('PATCH', `/${id}`, { url: 'https://other.example.com/' });
    expect(await read(id)).toMatchObject({ url: 'https://other.example.com/' });
  });

  it('a change of the status disables a webhook endpoint, and enables it with reset failures', async () => {
    const { id } = await make();
    expect((await send('PATCH', `/${id}`, { status: 'disabled' })).json).toMatchObject({ status: 'disabled' });
    const em = api.orm.em.fork();
    await em.nativeUpdate(
      WebhookEndpoint,
      { id },
      { consecutiveFailures: 9, failingSince: now, lastError: 'HTTP 500' },
    );
    expect((await send('PATCH', `/${id}`, { status: 'enabled' })).json).toMatchObject({
      status: 'enabled',
      consecutive_failures: 0,
      failing_since: null,
    });
  });
});

it('enabling a webhook endpoint resets the failures, keeps the latest error, and can be repeated', async () => {
  const { id } = await make();
  const failing = { status: 'disabled', consecutiveFailures: 14, failingSince: now, lastError: 'HTTP 500' } as const;
  await api.orm.em.fork().nativeUpdate(WebhookEndpoint, { id }, failing);
  const enabled = await send('POST', `/${id}/enable`);
  expect(enabled.json).toMatchObject({
    status: 'enabled',
    consecutive_failures: 0,
    failing_since: null,
    last_error: 'HTTP 500',
  });
  expect((await send('POST', `/${id}/enable`)).text).toBe(enabled.text);
});

describe('rotating the secret', () => {
  const rotate = async (id: string, body?: object) => {
    const answer = await send('POST', `/${id}/rotate-secret`, body);
    expect(answer.status).toBe(200);
    return answer.json as { secret: string; previous_secret_expires_at: number | null };
  };
  const signingSecrets = async (id: string, at = now) => activeSecrets(await row(id), api.sealedSecrets, at);

  it('the rotation of a webhook secret makes both secrets sign for a day, then the new one alone', async () => {
    const { id, secret: old } = await make();
    const { secret, previous_secret_expires_at: expiresAt } = await rotate(id);
    expect(await signingSecrets(id)).toEqual([secret, old]);
    expect(expiresAt).toBe(Math.floor(now.getTime() / 1_000) + 86_400);
    expect(await signingSecrets(id, new Date(now.getTime() + 86_399_000))).toEqual([secret, old]);
    expect(await signingSecrets(id, new Date(now.getTime() + 86_400_000))).toEqual([secret]);
    now = new Date(now.getTime() + 86_400_000);
    key = await api.identity.token({ organizationId, role: 'admin' }, { expiresAt: new Date(now.getTime() + 60_000) });
    expect(await read(id)).toMatchObject({ previous_secret_expires_at: null });
  });

  it('the rotation of a webhook secret without a grace period ends the old secret at once', async () => {
    const { id } = await make();
    const { secret, previous_secret_expires_at: expiresAt } = await rotate(id, { grace_seconds: 0 });
    expect(await signingSecrets(id)).toEqual([secret]);
    expect(expiresAt).toBeNull();
  });

  it('two rotations of a webhook secret in succession leave the two newest secrets', async () => {
    const { id, secret: first } = await make();
    const rotations = await Promise.all([rotate(id), rotate(id)]);
    const secrets = await signingSecrets(id);
    expect(secrets).toHaveLength(2);
    expect(new Set(secrets)).toEqual(new Set(rotations.map(({ secret }) => secret)));
    expect(secrets).not.toContain(first);
  });

  it.each([-1, 604_801, 1.5])(
    'the rotation of a webhook secret with a grace period of %d seconds is refused',
    async (seconds) => {
      const { id } = await make();
      const answer = await send('POST', `/${id}/rotate-secret`, { grace_seconds: seconds });
      expect(answer).toMatchObject({ status: 400, error: { param: 'grace_seconds' } });
    },
  );
});

it('a deleted webhook endpoint is not found', async () => {
  const { id } = await make();
  expect((await send('DELETE', `/${id}`)).status).toBe(204);
  expect(await send('GET', `/${id}`)).toMatchObject({
    status: 404,
    error: { code: 'resource_not_found', param: 'id' },
  });
  expect((await send('GET', '')).json.data).toEqual([]);
});

describe('an endpoint of another organisation', () => {
  it.each([
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/enable'],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['POST', '/replay'],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/whd_1CoTsd5kMvWzrNbUoFgrYp'],
    ['POST', '/deliveries/whd_1CoTsd5kMvWzrNbUoFgrYp/replay'],
  ])('a webhook endpoint of another organisation is not found by %s …%s', async (method, path) => {
    const { id } = await make();
    const before = await row(id);
    key = await api.identity.token({ role: 'owner' });
    const body =
      method === 'PATCH' ? { status: 'disabled', url: BODY.url } : path === '/replay' ? { since: 0 } : undefined;
    lookups = [];
    expect(await send(method, `/${id}${path}`, body)).toMatchObject({
      status: 404,
      error: { code: 'resource_not_found', param: 'id' },
    });
    expect(await row(id)).toEqual(before);
    expect(lookups).toEqual([]);
  });
});

describe('a member', () => {
  it('a member reads webhook endpoints and cannot change them', async () => {
    const { id } = await make();
    key = await api.identity.token({ organizationId, role: 'member' });
    expect((await send('GET', `/${id}`)).status).toBe(200);
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate-secret`],
      ['POST', `/${id}/test`],
    ] as const) {
      expect(await send(method, path)).toMatchObject({ status: 403, error: { code: 'role_not_permitted' } });
    }
  });
});
