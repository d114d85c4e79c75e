/** Live mode offers what running workers can do: an announcement lasts as long as somebody renews it. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import {
  announceInstalledEndpoints,
  readInstalledEndpoints,
  renewInstalledEndpoints,
  withdrawStaleEndpoints,
} from '../../src/jobs/installed-endpoints-store.ts';
import { forgetWithdrawnEndpoints, isWithdrawnEndpoint } from '../../src/jobs/withdrawn-endpoints-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import { AnnouncedModels } from '../../src/workers/announced-models.ts';
import { sweepAnnouncements } from '../../src/workers/sweeper.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordLog } from '../support/log-record.ts';

const OLD = { endpoint: 'vin.read', modelVersion: 'vin-reader@2026-01-01' };
const NEW = { ...OLD, modelVersion: 'vin-reader@2026-02-01' };

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(() => announceInstalledEndpoints(orm.em.fork(), [OLD], []));

const sweep = () =>
  sweepAnnouncements({ orm, temporal: null as never, store: createDiskStore('unused'), logger: recordLog().logger });
const installed = async () => {
  const builds = [...(await readInstalledEndpoints(orm.em.fork()))];
  return Object.fromEntries(builds.map(([endpoint, [modelVersion]]) => [endpoint, modelVersion]));
};
const pass = (seconds: number) =>
  query(orm.em.fork(), `update installed_endpoints set announced_at = announced_at - $1 * interval '1 second'`, [
    seconds,
  ]);

it('an endpoint is withdrawn when its last worker has been silent for 90 seconds', async () => {
  // PostgreSQL's time stands still within a transaction.
  await orm.em.fork().transactional(async (em) => {
    const withdrawnAfter = async (ms: number) => {
      await query(em, `update installed_endpoints set announced_at = now() - $1 * interval '1 millisecond'`, [ms]);
      return withdrawStaleEndpoints(em);
    };
    expect(await withdrawnAfter(90_000)).toEqual([]);
    expect(await withdrawnAfter(90_001)).toEqual(['vin.read']);
  });
  expect(await installed()).toEqual({});
});

it('a withdrawn endpoint is known as withdrawn until a worker announces it again', async () => {
  const isAway = () => isWithdrawnEndpoint(orm.em.fork(), 'vin.read');
  await forgetWithdrawnEndpoints(orm.em.fork());
  await pass(95);
  await sweep();
  await sweep();
  expect(await isAway()).toBe(true);
  const backend = { installedEndpoints: () => [], reload: () => Promise.resolve() };
  await new AnnouncedModels({ orm, backend, endpoints: ['vin.read'], logger: recordLog().logger }).announce();
  expect(await isAway()).toBe(false);
});

it('a worker that renews its announcement keeps its endpoints, and regains withdrawn ones', async () => {
  await pass(85);
  await renewInstalledEndpoints(orm.em.fork(), [OLD]);
  await pass(10);
  await sweep();
  expect(await installed()).toEqual({ 'vin.read': OLD.modelVersion });
  await pass(95);
  await sweep();
  await renewInstalledEndpoints(orm.em.fork(), [OLD]);
  expect(await installed()).toEqual({ 'vin.read': OLD.modelVersion });
});

it('a worker with an older build neither undoes the announcement of a newer one nor keeps it alive', async () => {
  await announceInstalledEndpoints(orm.em.fork(), [NEW], []);
  await pass(85);
  await renewInstalledEndpoints(orm.em.fork(), [OLD]);
  expect(await installed()).toEqual({ 'vin.read': NEW.modelVersion });
  await pass(10);
  await sweep();
  expect(await installed()).toEqual({});
});
