/** The API's view of an inference worker's models follows its folder, and survives an outage of the database. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { InstalledEndpoint } from '../../src/contracts/inference-backend.ts';
import { openDatabase } from '../../src/database.ts';
import {
  isBuildInstalled,
  readInstalledEndpoints,
  withdrawStaleEndpoints,
} from '../../src/jobs/installed-endpoints-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { AnnouncedModels } from '../../src/workers/announced-models.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordLog } from '../support/log-record.ts';

const OLD = 'vin-reader@2026-01-01';
const NEW = 'vin-reader@2026-02-01';

let database: TestDatabase;
let orm: MikroORM;
let installed: InstalledEndpoint[];
let reloads: { now?: boolean }[];
let failReload: Error | null;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  await query(orm.em.fork(), 'delete from installed_endpoints');
  await query(orm.em.fork(), 'delete from installed_builds');
  installed = [{ endpoint: 'vin.read', modelVersion: OLD }];
  reloads = [];
  failReload = null;
});

function announced(using: MikroORM = orm) {
  const backend = {
    installedEndpoints: () => installed,
    reload: async (options: { now?: boolean } = {}) => {
      reloads.push(options);
      if (failReload) throw failReload;
    },
  };
  return new AnnouncedModels({
    orm: using,
    backend,
    endpoints: ['vin.read', 'plate.read'],
    logger: recordLog().logger,
  });
}

const defaults = async () => {
  const builds = [...(await readInstalledEndpoints(orm.em.fork()))];
  return Object.fromEntries(builds.map(([endpoint, [modelVersion]]) => [endpoint, modelVersion]));
};
const isInstalled = (modelVersion: string) => isBuildInstalled(orm.em.fork(), { endpoint: 'vin.read', modelVersion });

it('a new release serves by default, and the previous one can be pinned', async () => {
  const models = announced();
  await models.announce();
  expect(await defaults()).toEqual({ 'vin.read': OLD });
  installed = [{ endpoint: 'vin.read', modelVersion: NEW, otherVersions: [OLD] }];
  await models.reload();
  expect(await defaults()).toEqual({ 'vin.read': NEW });
  expect([await isInstalled(NEW), await isInstalled(OLD)]).toEqual([true, true]);
});

it('a removed release cannot be pinned, and an endpoint without a release is withdrawn', async () => {
  installed = [{ endpoint: 'vin.read', modelVersion: NEW, otherVersions: [OLD] }];
  const models = announced();
  await models.announce();
  installed = [{ endpoint: 'vin.read', modelVersion: NEW }];
  await models.reload();
  expect([await isInstalled(NEW), await isInstalled(OLD)]).toEqual([true, false]);
  installed = [];
  await models.reload();
  expect(await defaults()).toEqual({});
  expect(await isInstalled(NEW)).toBe(false);
});

it('the renewal of a worker does not restore a build that it no longer has', async () => {
  installed = [{ endpoint: 'vin.read', modelVersion: NEW, otherVersions: [OLD] }];
  const models = announced();
  await models.announce();
  installed = [{ endpoint: 'vin.read', modelVersion: NEW }];
  await Promise.all([models.reload(), models.renew()]);
  await models.renew();
  expect(await isInstalled(OLD)).toBe(false);
});

it('builds that nobody renews are withdrawn with their endpoints', async () => {
  installed = [{ endpoint: 'vin.read', modelVersion: NEW, otherVersions: [OLD] }];
  const models = announced();
  await models.announce();
  for (const table of ['installed_endpoints', 'installed_builds']) {
    await query(orm.em.fork(), `update ${table} set announced_at = announced_at - interval '85 seconds'`);
  }
  await models.renew();
  expect(await withdrawStaleEndpoints(orm.em.fork())).toEqual([]);
  expect(await isInstalled(OLD)).toBe(true);
  for (const table of ['installed_endpoints', 'installed_builds']) {
    await query(orm.em.fork(), `update ${table} set announced_at = announced_at - interval '95 seconds'`);
  }
  expect(await withdrawStaleEndpoints(orm.em.fork())).toEqual(['vin.read']);
  expect([await isInstalled(NEW), await isInstalled(OLD)]).toEqual([false, false]);
});

it('a worker with fewer models takes nothing away from another', async () => {
  await announced().announce();
  const [full, few] = [installed, [{ endpoint: 'plate.read', modelVersion: 'plate-reader@2026-01-01' }]];
  installed = [];
  const other = announced();
  await other.announce();
  expect(await defaults()).toEqual({ 'vin.read': OLD });
  installed = few;
  await other.reload();
  expect(await defaults()).toEqual({ 'vin.read': OLD, 'plate.read': 'plate-reader@2026-01-01' });
  // A worker withdraws only its own models.
  installed = full;
  await announced().announce();
  installed = [];
  await other.reload();
  expect(await defaults()).toEqual({ 'vin.read': OLD });
  expect(await isInstalled(OLD)).toBe(true);
});

it('a worker that loses an older build leaves the endpoint to the newer one of another worker', async () => {
  const older = announced();
  await older.announce();
  installed = [{ endpoint: 'vin.read', modelVersion: NEW }];
  await announced().announce();
  installed = [];
  await older.reload();
  expect(await defaults()).toEqual({ 'vin.read': NEW });
  expect([await isInstalled(NEW), await isInstalled(OLD)]).toEqual([true, false]);
});

it('a worker announces after an outage of the database what it missed', async () => {
  const away = await openDatabase({ url: database.url, poolSize: 1 });
  const models = announced(away);
  await models.announce();
  installed = [{ endpoint: 'vin.read', modelVersion: NEW }];
  await query(orm.em.fork(), 'alter table installed_builds rename to installed_builds_away');
  await models.reload();
  await query(orm.em.fork(), 'alter table installed_builds_away rename to installed_builds');
  expect(await defaults()).toEqual({ 'vin.read': OLD });
  await models.reload();
  expect(await defaults()).toEqual({ 'vin.read': NEW });
  await away.close();
});

it('an unreadable folder withdraws nothing', async () => {
  const models = announced();
  await models.announce();
  failReload = new Error('the network volume is away');
  await models.reload();
  expect(await defaults()).toEqual({ 'vin.read': OLD });
});

it('SIGHUP reloads the folder at once, until the worker stops', async () => {
  const models = announced();
  const before = process.listenerCount('SIGHUP');
  const stop = models.follow();
  process.emit('SIGHUP');
  expect(reloads).toEqual([{ now: true }]);
  stop();
  expect(process.listenerCount('SIGHUP')).toBe(before);
});
