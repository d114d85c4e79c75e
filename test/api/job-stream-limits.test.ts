/** Event streams are bounded: in number, in age, in queries, and by the validity of their key. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { ApiKey } from '../../src/organizations/entities.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { admit, finishInference } from '../support/jobs.ts';
import { until } from '../support/until.ts';

/** Enough to stall a service in which each stream asks the database. */
const MANY_STREAMS = 1_000;
const MANY_KEYS = 10;
const OPENED_AT_ONCE = 100;
const REQUESTS_BESIDE = 100;

let api: TestApi;
let customer: Customer;
let jobId: string;
const requests: ClientRequest[] = [];

async function start(streamLimits: object = {}): Promise<void> {
  api = await startTestApi({ streamLimits });
  customer = await createCustomer(api.orm);
  jobId = await admit(api.orm, customer);
}
afterEach(async () => {
  for (const request of requests.splice(0)) request.destroy();
  await api.close();
});

interface OpenStream {
  response: IncomingMessage;
  /** Everything received so far. */
  text(): string;
  ended: Promise<void>;
}

/** Plain HTTP: thousands of connections beside each other, each with a socket of its own. */
async function open(key: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const request = get(`${api.url}/v1/jobs/${jobId}/events`, {
    agent: false,
    headers: { Authorization: `Bearer ${key}`, ...headers },
  });
  request.on('error', () => {});
  requests.push(request);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // A destroyed request reports an error before it closes.
  const ended = new Promise<void>((resolve) => response.on('error', () => {}).once('close', () => resolve()));
  return { response, text: () => text, ended };
}

const settle = async () => {
  await finishInference(api.orm, jobId);
  await createSettlementActivities({ orm: api.orm }).settleJob({ jobId, failure: null });
};

const change = (id: string, data: Partial<ApiKey>) => api.orm.em.fork().nativeUpdate(ApiKey, { id }, data);

describe('the number of streams', () => {
  it('the number of streams is limited per key: one more is refused with 429 until another one ends', async () => {
    await start({ perKey: 2 });
    const { test: key } = customer.keys;
    const [first, second] = [await open(key), await open(key)];
    const refused = await api.call(`/v1/jobs/${jobId}/events`, { key });
    expect(refused.error).toMatchObject({ code: 'concurrency_limit_exceeded' });
    expect(refused.headers.get('Retry-After')).not.toBeNull();
    const other = await createKey(api.orm, customer.organizationId, 'test');
    expect((await open(other.secret)).response.statusCode).toBe(200);
    requests[0]?.destroy();
    await first?.ended;
    let again = await open(key);
    while (again.response.statusCode === 429) again = await open(key);
    expect(again.response.statusCode).toBe(200);
    expect(second?.response.complete).toBe(false);
  });

  it('the number of streams is limited in all: one more is refused with 503', async () => {
    await start({ total: 1 });
    await open(customer.keys.test);
    const other = await createKey(api.orm, customer.organizationId, 'test');
    const refused = await api.call(`/v1/jobs/${jobId}/events`, { key: other.secret });
    expect(refused.error).toMatchObject({ code: 'service_unavailable' });
    expect(refused.headers.get('Retry-After')).not.toBeNull();
  });

  it('the number of streams does not count one whose client hung up before it began', async () => {
    await start({ perKey: 1 });
    const { test: key } = customer.keys;
    const lock = new pg.Client({ connectionString: api.databaseUrl });
    await lock.connect();
    await lock.query('begin; lock table jobs in access exclusive mode');
    const received = new Promise<ServerResponse>((resolve) => {
      const take = (message: unknown) => {
        unsubscribe('http.server.request.start', take);
        resolve((message as { response: ServerResponse }).response);
      };
      subscribe('http.server.request.start', take);
    });
    const request = get(`${api.url}/v1/jobs/${jobId}/events`, {
      agent: false,
      headers: { Authorization: `Bearer ${key}` },
    });
    request.on('error', () => {});
    const response = await received;
    await until(async () => {
      const waiting = await lock.query(`select from pg_locks where not granted and relation = 'jobs'::regclass`);
      return waiting.rowCount === 1;
    });
    request.destroy();
    if (!response.closed) await once(response, 'close');
    await lock.query('rollback');
    await lock.end();
    await api.log.waitFor(({ path }) => path === `/v1/jobs/${jobId}/events`);
    expect((await open(key)).response.statusCode).toBe(200);
  });
});

describe('the end of a stream', () => {
  it('a stream ends at its maximum age, and continues on a new connection', async () => {
    await start({ maximumAgeMs: 50, checkIntervalMs: 20 });
    const stream = await open(customer.keys.test);
    await stream.ended;
    expect(stream.response.complete).toBe(true);
    expect(stream.text()).toMatch(/^event: job\.queued\n/);
    expect((await open(customer.keys.test, { 'Last-Event-ID': 'queued' })).response.statusCode).toBe(200);
  });

  it.each([
    { what: 'is revoked', data: { revokedAt: new Date() } },
    { what: 'expires', data: { expiresAt: new Date() } },
    { what: 'loses the family of the job', data: { scopes: ['render:write'] } },
  ])('a stream ends when its key $what', async ({ data }) => {
    await start({ checkIntervalMs: 20 });
    const { id, secret } = await createKey(api.orm, customer.organizationId, 'test');
    const [stream, other] = [await open(secret), await open(customer.keys.test)];
    await change(id, data);
    await stream?.ended;
    expect(stream?.response.complete).toBe(true);
    await settle();
    await other?.ended;
    expect(other?.text()).toContain('event: job.succeeded');
    expect(stream?.text()).not.toContain('job.succeeded');
  });

  it('a stream ends when the grace period of its rotated secret ends', async () => {
    await start({ checkIntervalMs: 20 });
    const { id, secret } = await createKey(api.orm, customer.organizationId, 'test');
    const stream = await open(secret);
    const [row] = await api.orm.em.fork().find(ApiKey, { id });
    await change(id, {
      previousSecretHash: row?.secretHash ?? null,
      secretHash: Buffer.from('the hash of a new secret'),
      rotatesAt: new Date(Date.now() + 100),
    });
    await stream.ended;
    expect(stream.response.complete).toBe(true);
  });

  it('a stream ends when the service stops', async () => {
    await start();
    const stream = await open(customer.keys.test);
    api.jobStreams.close();
    await stream.ended;
    expect(stream.response.complete).toBe(true);
  });
});

it(`${MANY_STREAMS} streams on one job leave other requests alone, and all learn of its end`, async () => {
  const statements = countStatements();
  await start();
  const keys = await Promise.all(
    Array.from({ length: MANY_KEYS }, () => createKey(api.orm, customer.organizationId, 'test')),
  );
  const streams: OpenStream[] = [];
  while (streams.length < MANY_STREAMS) {
    // The minute of the organisation would be over long before.
    await query(api.orm.em.fork(), 'delete from rate_limits');
    const opened = Array.from({ length: OPENED_AT_ONCE }, (_, index) => {
      const key = keys[(streams.length + index) % MANY_KEYS];
      return open(key?.secret ?? '');
    });
    streams.push(...(await Promise.all(opened)));
  }
  expect(new Set(streams.map(({ response }) => response.statusCode))).toEqual(new Set([200]));
  await query(api.orm.em.fork(), 'delete from rate_limits');

  const before = statements.count;
  const startedAt = performance.now();
  for (let request = 0; request < REQUESTS_BESIDE; request++) {
    expect((await api.call('/v1/api-keys/self', { key: customer.keys.live })).status).toBe(200);
  }
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  const made = statements.count - before;
  // Each request makes two. The followers of the process share one reader, which makes a few a second; with a statement
  // for each stream there were thousands.
  expect(made).toBeGreaterThanOrEqual(2 * REQUESTS_BESIDE);
  expect(made).toBeLessThan(4 * REQUESTS_BESIDE + 10 * elapsedSeconds);

  await settle();
  await Promise.all(streams.map(({ ended }) => ended));
  expect(streams.filter((stream) => stream.text().includes('event: job.succeeded'))).toHaveLength(MANY_STREAMS);
  statements.restore();
}, 240_000);

/** Counts what this process sends to PostgreSQL, on the connections opened from now on. */
function countStatements() {
  const send = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')?.value;
  const statements = {
    count: 0,
    restore: () => Object.assign(pg.Client.prototype, { query: send }),
  };
  function count(this: pg.Client, ...parameters: unknown[]): unknown {
    statements.count += 1;
    return Reflect.apply(send, this, parameters);
  }
  Object.assign(pg.Client.prototype, { query: count });
  return statements;
}
