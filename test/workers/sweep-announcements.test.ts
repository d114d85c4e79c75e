/** Live mode offers what a running worker can do: an announcement holds for as long as somebody renews it. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  announceInstalledEndpoints,
  readInstalledEndpoints,
  renewInstalledEndpoints,
} from '../../src/db/jobs/installed-endpoints.ts';
import { forgetWithdrawnEndpoints, isWithdrawnEndpoint } from '../../src/db/jobs/withdrawn-endpoints.ts';
import { type MikroORM, openDatabase, query } from '../../src/db/orm.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
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
  await pass(85);
  await sweep();
  expect(await installed()).toEqual({ 'vin.read': OLD.modelVersion });
  await pass(10);
  await sweep();
  expect(await installed()).toEqual({});
});

it('that was withdrawn is known as such, until a worker says anew what it can run', async () => {
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

it('a worker that renews its announcement keeps its endpoints, and gets back what was withdrawn', async () => {
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
