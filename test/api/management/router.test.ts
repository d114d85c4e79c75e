/** What the router does around every operation that changes something. */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiState } from '../../../src/api/context.ts';
import { defineOperation } from '../../../src/api/management/operation.ts';
import { addManagementRoutes, type ManagementRouterDependencies } from '../../../src/api/management/router.ts';
import { errors } from '../../../src/api/middleware/errors.ts';
import { requestId } from '../../../src/api/middleware/request-id.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createSealedSecrets, type SealedSecrets } from '../../../src/platform/sealed-secrets.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
let server: Server;
let organizationId: string;
/** What the operation did, in order. */
let did: string[];
let prepare: () => Promise<string>;
let handle: () => Promise<void>;
let afterCommit: () => Promise<void>;

const rename = defineOperation({
  id: 'rename',
  method: 'post',
  path: '/mgmt/v1/names/{id}',
  tag: 'Test',
  summary: 'Renames the organisation',
  permission: 'organization:write',
  response: Type.Object({}),
  body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
  prepare: () => prepare(),
  async handle({ em, member, body, afterCommit: later }, prepared: string) {
    did.push(`handled after ${prepared}`);
    await query(em, 'update organizations set name = $2 where id = $1', [member.organizationId, body.name]);
    later(afterCommit);
    await handle();
    return { name: body.name };
  },
});

const rotatePart = defineOperation({
  id: 'rotatePart',
  method: 'post',
  path: '/mgmt/v1/names/{id}/parts/{part_id}',
  tag: 'Test',
  summary: 'Shows a secret',
  permission: 'organization:write',
  response: Type.Object({}),
  showsSecret: true,
  body: Type.Object({ grace: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
  async handle() {
    did.push('handled');
    return { secret: 'shown once' };
  },
});

let sealedSecrets: SealedSecrets;

beforeAll(async () => {
  api = await startTestApi();
  const app = new Koa<ApiState>();
  const router = new Router<ApiState>();
  addManagementRoutes(router, {
    operations: [rename, rotatePart],
    identityProvider: api.identity.provider,
    // The operation uses no service except the one that seals responses.
    services: {
      get sealedSecrets() {
        return sealedSecrets;
      },
    } as ManagementRouterDependencies['services'],
    rateLimit: async () => {},
    clock: () => new Date(),
    logger: api.log.logger,
  });
  app.use(requestId);
  app.use(errors({ publicBaseUrl: 'https://api.example', logger: api.log.logger }));
  app.use((context, next) => {
    context.state.em = api.orm.em.fork();
    return next();
  });
  app.use(router.routes());
  const callback = app.callback();
  server = createServer((request, response) => void callback(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await api.close();
});
beforeEach(() => {
  sealedSecrets = api.sealedSecrets;
  organizationId = newId('organization');
  did = [];
  prepare = async () => 'a look-up';
  handle = async () => {};
  afterCommit = async () => void did.push(`told that the name is ${await nameNow()}`);
});

async function nameNow(): Promise<string | undefined> {
  const sql = 'select name from organizations where id = $1';
  return (await query<{ name: string }>(api.orm.em.fork(), sql, [organizationId]))[0]?.name;
}

const auditEntries = () =>
  query(api.orm.em.fork(), 'select target_id, details from audit_log_entries where organization_id = $1', [
    organizationId,
  ]);

const send = (name: string, idempotencyKey: string | null = null, id = 'one') =>
  post(`/mgmt/v1/names/${id}`, { name }, idempotencyKey);

async function post(path: string, body: object, idempotencyKey: string | null) {
  const token = await api.identity.token({ organizationId, userId: 'usr_1CoTsd5kMvWzrNbUoFgrYp' });
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(idempotencyKey !== null && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify(body),
  });
  const isReplay = response.headers.get('Idempotent-Replayed') === 'true';
  return { status: response.status, isReplay, json: (await response.json()) as Record<string, unknown> };
}

const DONE = ['handled after a look-up', 'told that the name is Garage'];

it('tasks after the commit see the change', async () => {
  expect(await send('Garage')).toEqual({ status: 200, isReplay: false, json: { name: 'Garage' } });
  expect(did).toEqual(DONE);
});

it('a task that fails after the commit is logged, and the response stands', async () => {
  afterCommit = () => Promise.reject(new Error('nobody there'));
  expect(await send('Garage')).toMatchObject({ status: 200 });
  await api.log.waitFor(
    ({ msg, operation }) => msg === 'task after commit failed; a sweeper repeats it' && operation === 'rename',
  );
});

it('the audit log records the target, the other path parameters and the body', async () => {
  await post('/mgmt/v1/names/one/parts/two', { grace: 5 }, null);
  expect(await auditEntries()).toEqual([{ target_id: 'one', details: { part_id: 'two', grace: 5 } }]);
});

describe('an Idempotency-Key', () => {
  it('an Idempotency-Key returns the stored response to a repetition without any further effect', async () => {
    const key = randomUUID();
    await send('Garage', key);
    prepare = () => Promise.reject(new ServiceError('parameter_invalid', 'What was looked up is gone.'));
    expect(await send('Garage', key)).toEqual({ status: 200, isReplay: true, json: { name: 'Garage' } });
    expect(did).toEqual(DONE);
    expect(await auditEntries()).toHaveLength(1);
  });

  it('an Idempotency-Key makes concurrent requests change and prepare once', async () => {
    const key = randomUUID();
    let lookUps = 0;
    prepare = async () => {
      lookUps += 1;
      return 'a look-up';
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('Garage', key)));
    const told = answers.map(({ status, isReplay }) => (isReplay ? 'replay' : status));
    expect(told.filter((outcome) => outcome === 200)).toHaveLength(1);
    expect(new Set(told)).toEqual(new Set([200, ...told.filter((outcome) => outcome === 409 || outcome === 'replay')]));
    expect([lookUps, did]).toEqual([1, DONE]);
  });

  it('an Idempotency-Key of a request still in preparation is refused as in progress', async () => {
    const key = randomUUID();
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<string>();
    prepare = () => {
      asked.resolve();
      return found.promise;
    };
    const under = send('Garage', key);
    await asked.promise;
    prepare = () => Promise.reject(new Error('looked up twice'));
    expect(await send('Garage', key)).toMatchObject({
      status: 409,
      json: { error: { code: 'idempotency_request_in_progress' } },
    });
    found.resolve('a look-up');
    expect(await under).toMatchObject({ status: 200, isReplay: false });
    expect(await send('Garage', key)).toMatchObject({ status: 200, isReplay: true });
    expect(did).toEqual(DONE);
  });

  it('an Idempotency-Key of a presumed-dead request lets exactly one other request make the change', async () => {
    const key = randomUUID();
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<string>();
    prepare = () => {
      asked.resolve();
      return found.promise;
    };
    const slow = send('Garage', key);
    await asked.promise;
    const sql = `update idempotency_claims set in_progress_until = now() - interval '1 second' where key = $1`;
    await query(api.orm.em.fork(), sql, [key]);
    prepare = async () => 'a look-up';
    expect(await send('Garage', key)).toMatchObject({ status: 200, isReplay: false });
    found.resolve('an old look-up');
    expect(await slow).toMatchObject({ status: 409, json: { error: { code: 'idempotency_request_in_progress' } } });
    expect(await auditEntries()).toHaveLength(1);
    expect(await send('Garage', key)).toMatchObject({ status: 200, isReplay: true });
  });

  it('an Idempotency-Key is the same for every encoding of the path, and for ids of any length', async () => {
    const key = randomUUID();
    await send('Garage', key);
    expect(await send('Garage', key, '%6Fne')).toMatchObject({ status: 200, isReplay: true });
    const long = randomBytes(4_000).toString('hex');
    expect(await send('Garage', key, long)).toMatchObject({ status: 200, isReplay: false });
  });

  it('an Idempotency-Key of a response whose sealing key was removed is refused, and nothing is repeated', async () => {
    const key = randomUUID();
    const path = '/mgmt/v1/names/one/parts/two';
    expect(await post(path, {}, key)).toMatchObject({ status: 200, json: { secret: 'shown once' } });
    sealedSecrets = createSealedSecrets(['another key']);
    expect(await post(path, {}, key)).toMatchObject({
      status: 409,
      json: { error: { code: 'idempotency_key_reuse', message: expect.stringContaining('sealed') } },
    });
    sealedSecrets = api.sealedSecrets;
    expect(await post(path, {}, key)).toMatchObject({ isReplay: true, json: { secret: 'shown once' } });
    expect(did).toEqual(['handled']);
  });

  it('an Idempotency-Key belongs to one path and one body', async () => {
    const key = randomUUID();
    await send('Garage', key);
    expect(await send('Workshop', key)).toMatchObject({
      status: 409,
      json: { error: { code: 'idempotency_key_reuse' } },
    });
    expect(await send('Workshop', key, 'two')).toMatchObject({ status: 200, isReplay: false });
  });

  it.each([
    ['refused', () => Promise.reject(new ServiceError('parameter_invalid', 'Not this one.')), 400],
    ['broken', () => Promise.reject(new Error('out of order')), 500],
  ])(
    'an Idempotency-Key of a request that was %s is released, and the request leaves no trace',
    async (_how, failing, status) => {
      const key = randomUUID();
      handle = failing;
      expect(await send('Garage', key)).toMatchObject({ status, isReplay: false });
      expect([await nameNow(), await auditEntries()]).toEqual([undefined, []]);
      expect(did).toEqual(['handled after a look-up']);
      handle = async () => {};
      expect(await send('Garage', key)).toMatchObject({ status: 200, isReplay: false });
    },
  );
});
