/** `last_used_at` of a key: right to the minute, without a write for every request. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiKey } from '../../src/organizations/entities.ts';
import { createKeyUse } from '../../src/organizations/key-use.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { recordLog } from '../support/log-record.ts';
import { managing } from '../support/management.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');
const noonPlus = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);

let api: TestApi;
let customer: Customer;
let key: { id: string; secret: string };
let now: Date;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  now = NOON;
  await api.keyUse.flush();
  key = await createKey(api.orm, customer.organizationId, 'test');
});

const use = (secret = key.secret, path = '/v1/endpoints') => api.call(path, { key: secret });
const lastUsed = async (id = key.id) => (await api.orm.em.fork().findOneOrFail(ApiKey, { id })).lastUsedAt;

describe('a request', () => {
  it('a request writes no use of its key at once; the next flush writes the latest use', async () => {
    for (const seconds of [0, 20, 40]) {
      now = noonPlus(seconds);
      await use();
    }
    expect(await lastUsed()).toBeNull();
    await api.keyUse.flush();
    expect(await lastUsed()).toEqual(noonPlus(40));
    now = new Date();
    const shown = await managing(api, customer.organizationId)(`/api-keys/${key.id}`);
    expect(shown.json).toMatchObject({ last_used_at: noonPlus(40).getTime() / 1000 });
  });

  it('a request refused for a missing scope counts as a use of the key', async () => {
    const { id, secret } = await createKey(api.orm, customer.organizationId, 'test', { scopes: [] });
    expect((await use(secret, '/v1/jobs')).status).toBe(403);
    await api.keyUse.flush();
    expect(await lastUsed(id)).toEqual(NOON);
  });

  it('a request with an inactive key does not count as a use of the key', async () => {
    const { id, secret } = await createKey(api.orm, customer.organizationId, 'test', { revokedAt: NOON });
    expect((await use(secret)).status).toBe(401);
    await api.keyUse.flush();
    expect(await lastUsed(id)).toBeNull();
  });
});

describe('the recorded time', () => {
  it('the recorded use of a key never moves backwards, whichever process writes last', async () => {
    const other = createKeyUse({ orm: api.orm, logger: api.log.logger });
    other.note(key.id, noonPlus(30));
    api.keyUse.note(key.id, noonPlus(10));
    await other.flush();
    await api.keyUse.flush();
    expect(await lastUsed()).toEqual(noonPlus(30));
  });

  it('the use of the same keys can be written by many processes at once, without deadlock', async () => {
    const keys = await Promise.all(
      Array.from({ length: 20 }, () => createKey(api.orm, customer.organizationId, 'test')),
    );
    const processes = Array.from({ length: 8 }, () => createKeyUse({ orm: api.orm, logger: api.log.logger }));
    for (const [index, process] of processes.entries()) {
      const order = index % 2 ? keys : keys.toReversed();
      for (const { id } of order) process.note(id, noonPlus(index));
    }
    await Promise.all(processes.map((process) => process.flush()));
    for (const { id } of keys) expect(await lastUsed(id)).toEqual(noonPlus(7));
    expect(api.log.lines.join('')).not.toContain('not written');
  });

  it('the use of a key is written at shutdown', async () => {
    const process = createKeyUse({ orm: api.orm, logger: api.log.logger, flushIntervalMs: 60_000 });
    process.note(key.id, NOON);
    await process.close();
    expect(await lastUsed()).toEqual(NOON);
  });

  it('the use of a key is written once an unavailable database is back', async () => {
    const log = recordLog();
    const process = createKeyUse({ orm: api.orm, logger: log.logger });
    process.note(key.id, NOON);
    await query(api.orm.em.fork(), 'alter table api_keys rename to api_keys_away');
    try {
      await process.flush();
      expect(log.lines.join('')).toContain('not written');
    } finally {
      await query(api.orm.em.fork(), 'alter table api_keys_away rename to api_keys');
    }
    process.note(key.id, noonPlus(-10));
    await process.flush();
    expect(await lastUsed()).toEqual(NOON);
  });

  it('the use of keys is buffered for a bounded number of them', async () => {
    const process = createKeyUse({ orm: api.orm, logger: api.log.logger, capacity: 1 });
    const second = await createKey(api.orm, customer.organizationId, 'test');
    process.note(key.id, NOON);
    process.note(second.id, NOON);
    process.note(key.id, noonPlus(1));
    await process.flush();
    expect([await lastUsed(), await lastUsed(second.id)]).toEqual([noonPlus(1), null]);
  });
});
