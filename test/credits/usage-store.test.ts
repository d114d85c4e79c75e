/** Usage reads sums of closed days and the jobs since, and says what a count of all jobs says. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { closeUsage, readUsage, USAGE_GROUPS, type UsageQuery } from '../../src/credits/usage-store.ts';
import { openDatabase } from '../../src/database.ts';
import { forgetOldResults } from '../../src/jobs/retention-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { sweepUsage } from '../../src/workers/sweep-credits.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordLog } from '../support/log-record.ts';
import { type SentStatements, watchStatements } from '../support/rows-read.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const MODES = ['live', 'staging', 'test'] as const;
const ENDED = ['succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;
const MARCH_20 = new Date('2026-03-20T09:00:00Z');

let database: TestDatabase;
let orm: MikroORM;
let sent: SentStatements;
let customer: Customer;
let made = 0;

beforeAll(async () => {
  sent = watchStatements(() => orm);
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
});
beforeEach(async () => {
  await query(orm.em.fork(), 'delete from jobs');
  await query(orm.em.fork(), 'truncate closed_usage, closed_usage_days');
  customer = await createCustomer(orm, { live: 0, test: 0 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
  sent.stop();
});

interface JobAt {
  at: Date | string;
  mode?: (typeof MODES)[number];
  status?: (typeof ENDED)[number] | 'queued' | 'processing';
  charged?: number;
  endpoint?: string;
  of?: Customer;
  idAgeMs?: number;
}

/** Returns its id. */
async function admit({
  at,
  mode = 'live',
  status = 'succeeded',
  charged = 0,
  endpoint = 'dashboard.read',
  of = customer,
  idAgeMs = 0,
}: JobAt): Promise<string> {
  made += 1;
  const id = firstIdAt('job', new Date(new Date(at).getTime() - idAgeMs)).slice(0, -5) + String(10_000 + made);
  const isOpen = status === 'queued' || status === 'processing';
  await query(
    orm.em.fork(),
    `insert into jobs (id, organization_id, api_key_id, endpoint, status, livemode, is_staging, parameters, inputs,
       reserved_credits, charged_credits, request_id, created_at, completed_at, expiry_ms, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, '{"a":1}', '[]', 20, $8, 'req_1', $9, $10, 1000, $9)`,
    [
      id,
      of.organizationId,
      of.keyIds[mode],
      endpoint,
      status,
      mode !== 'test',
      mode === 'staging',
      charged,
      at,
      isOpen ? null : at,
    ],
  );
  return id;
}

async function end(id: string, status: (typeof ENDED)[number], charged: number): Promise<void> {
  await query(orm.em.fork(), 'update jobs set status = $2, charged_credits = $3, completed_at = now() where id = $1', [
    id,
    status,
    charged,
  ]);
}

const close = (now: Date) => sweepUsage({ orm, logger: recordLog().logger, clock: () => now });
const closedUntil = async () =>
  (
    await query<{ until: string }>(
      orm.em.fork(),
      `select to_char(closed_until at time zone 'UTC', 'MM-DD HH24:MI') as until from closed_usage where organization_id = $1`,
      [customer.organizationId],
    )
  )[0]?.until;

const everything: UsageQuery = { organizationId: '', from: '2026-02-01', to: '2026-03-31', groupBy: USAGE_GROUPS };
const read = (changes: Partial<UsageQuery> = {}) =>
  readUsage(orm.em.fork(), { ...everything, organizationId: customer.organizationId, ...changes });

/** Without what is closed: a transaction that is undone forgets it. */
async function readFromJobs(changes: Partial<UsageQuery> = {}) {
  const em = orm.em.fork();
  await em.begin();
  try {
    await query(em, 'delete from closed_usage_days');
    await query(em, 'delete from closed_usage');
    return await readUsage(em, { ...everything, organizationId: customer.organizationId, ...changes });
  } finally {
    await em.rollback();
  }
}

it('usage says what the jobs say at any time, with jobs that end late and in any way', async () => {
  const random = new SeededRandom(7);
  const open: string[] = [];
  for (let hour = 0; hour < 60; hour += 1) {
    const start = Date.parse('2026-02-27T20:00:00Z') + hour * 3_600_000;
    for (let job = 0; job < 4; job += 1) {
      const status = random.pick([...ENDED, 'queued', 'processing'] as const);
      const id = await admit({
        at: new Date(start + random.below(3_600_000)),
        mode: random.pick(MODES),
        endpoint: random.pick(['dashboard.read', 'plate.read']),
        idAgeMs: random.pick([0, 0, 59 * 60_000]),
        status,
        charged: status === 'succeeded' || status === 'partial' ? 1 + random.below(20) : 0,
      });
      if (status === 'queued' || status === 'processing') open.push(id);
    }
    // Half of those that wait end, some after many hours.
    for (const id of open.splice(0, random.below(open.length + 1))) {
      const status = random.pick(ENDED);
      await end(id, status, status === 'succeeded' || status === 'partial' ? random.below(20) : 0);
    }
    if (random.below(3) > 0) await close(new Date(start + random.below(2 * 3_600_000)));
    if (hour % 12 !== 0) continue;
    for (const changes of [
      {},
      { groupBy: ['day'] },
      { from: '2026-02-28', to: '2026-03-01', livemode: true },
    ] as const) {
      expect(await read(changes)).toEqual(await readFromJobs(changes));
    }
  }
  for (const id of open) await end(id, 'expired', 0);
  await close(MARCH_20);
  expect(await closedUntil()).toBe('03-20 08:00');
  const filters: Partial<UsageQuery>[] = [
    {},
    { groupBy: ['endpoint'] },
    { groupBy: ['mode', 'api_key'] },
    { isStaging: true, livemode: true },
    { livemode: false },
    { endpoint: 'plate.read' },
    { apiKeyId: customer.keyIds.test },
    { from: '2026-02-28', to: '2026-02-28' },
    { from: '2026-03-01', to: '2026-03-01' },
  ];
  for (const changes of filters) {
    const usage = await read(changes);
    expect(usage.length).toBeGreaterThan(0);
    expect(usage).toEqual(await readFromJobs(changes));
  }
  expect(await findUsageDrift()).toEqual([]);
});

describe('a day', () => {
  it('a day of usage begins and ends at midnight in UTC, whatever the time zone of the session', async () => {
    await admit({ at: '2026-03-09T23:59:59.999Z', charged: 1 });
    await admit({ at: '2026-03-10T00:00:00Z', charged: 2 });
    await admit({ at: '2026-03-10T23:59:59.999Z', charged: 4 });
    await admit({ at: '2026-03-11T00:00:00Z', charged: 8 });
    const name = new URL(database.url).pathname.slice(1);
    await query(orm.em.fork(), `alter database ${name} set timezone = 'Pacific/Chatham'`);
    const elsewhere = await openDatabase({ url: database.url, poolSize: 1 });
    expect(await query(elsewhere.em.fork(), 'show timezone')).toEqual([{ TimeZone: 'Pacific/Chatham' }]);
    await closeUsage(elsewhere.em.fork(), MARCH_20, null);
    const far = await readUsage(elsewhere.em.fork(), { ...everything, organizationId: customer.organizationId });
    await elsewhere.close();
    expect(far).toEqual(await read());
    expect(await closedUntil()).toBe('03-20 08:00');
    const days = await read({ groupBy: ['day'] });
    expect(days.map(({ day, chargedCredits }) => [day, chargedCredits])).toEqual([
      ['2026-03-11', 8],
      ['2026-03-10', 6],
      ['2026-03-09', 1],
    ]);
    expect(await read({ from: '2026-03-10', to: '2026-03-10' })).toMatchObject([{ chargedCredits: 6 }]);
  });

  it('a day of usage is closed up to its oldest open job, and beyond once that has ended', async () => {
    const late = await admit({ at: '2026-03-10T05:30:00Z', status: 'processing' });
    await admit({ at: '2026-03-10T04:59:59Z', charged: 1 });
    await admit({ at: '2026-03-10T05:00:00Z', charged: 2 });
    await close(MARCH_20);
    expect(await closedUntil()).toBe('03-10 05:00');
    await close(MARCH_20);
    await end(late, 'succeeded', 4);
    expect(await read({ groupBy: ['day'] })).toMatchObject([{ jobs: { succeeded: 3 }, chargedCredits: 7 }]);
    await close(MARCH_20);
    expect(await closedUntil()).toBe('03-20 08:00');
    expect(await read({ groupBy: ['day'] })).toMatchObject([{ jobs: { succeeded: 3 }, chargedCredits: 7 }]);
  });

  it('the closing of a day does not wait for open jobs of another organisation', async () => {
    const other = await createCustomer(orm, { live: 0, test: 0 });
    await admit({ at: '2026-03-10T05:30:00Z', status: 'processing', of: other });
    await admit({ at: '2026-03-11T05:30:00Z' });
    await close(MARCH_20);
    expect(await closedUntil()).toBe('03-20 08:00');
  });

  it('a day that goes on is closed only where there is much to count', async () => {
    await admit({ at: '2026-03-20T05:00:00Z' });
    await close(MARCH_20);
    expect(await closedUntil()).toBeNull();
    await query(
      orm.em.fork(),
      `insert into jobs (id, organization_id, api_key_id, endpoint, status, livemode, is_staging, parameters, inputs,
         reserved_credits, request_id, created_at, completed_at, expiry_ms, due_at)
       select left(id, 20) || n, organization_id, api_key_id, endpoint, status, livemode, is_staging, parameters, inputs,
         reserved_credits, request_id, created_at, completed_at, expiry_ms, due_at
       from jobs cross join generate_series(100000, 100499) as n where organization_id = $1`,
      [customer.organizationId],
    );
    await close(MARCH_20);
    expect(await closedUntil()).toBe('03-20 08:00');
    await admit({ at: '2026-03-20T08:30:00Z' });
    expect(await read({ groupBy: ['day'] })).toMatchObject([{ day: '2026-03-20', jobs: { succeeded: 502 } }]);
  });
});

it('retention changes nothing of the usage', async () => {
  await admit({ at: '2026-02-10T10:00:00Z', charged: 3 });
  await close(MARCH_20);
  const before = await read();
  expect(await forgetOldResults(orm.em.fork(), MARCH_20, '')).toMatchObject({ rows: 1 });
  expect(await read()).toEqual(before);
  expect(await findUsageDrift()).toEqual([]);
});

it('closings that overlap count each job once', async () => {
  for (const day of ['10', '11', '12']) await admit({ at: `2026-03-${day}T10:00:00Z`, charged: 5 });
  await Promise.all([1, 2, 3].map(() => closeUsage(orm.em.fork(), MARCH_20, null)));
  expect(await read({ groupBy: ['endpoint'] })).toMatchObject([{ jobs: { succeeded: 3 }, chargedCredits: 15 }]);
  expect(await findUsageDrift()).toEqual([]);
});

it('a pass closes the usage of every organisation, and looks at a batch of them at a time', async () => {
  const others = await query<{ id: string }>(
    orm.em.fork(),
    `insert into organizations (id, name) select 'org_' || n, 'Many' from generate_series(1000, 1349) as n returning id`,
  );
  for (const { id: organizationId } of others)
    await admit({ at: '2026-03-10T10:00:00Z', charged: 5, of: { ...customer, organizationId } });
  await query(orm.em.fork(), 'analyze');
  await close(MARCH_20);
  expect(await query(orm.em.fork(), 'select sum(succeeded)::integer as sum from closed_usage_days')).toEqual([
    { sum: others.length },
  ]);
  const look = () => closeUsage(orm.em.fork(), MARCH_20, null);
  const { result, rows } = await sent.rowsRead(look, ['from closed_usage as account', 'for update']);
  expect(result).toEqual({ closed: 0, last: expect.any(String) });
  // All of them would have twice as many modes.
  expect(rows).toBeLessThan(2 * others.length);
  await query(orm.em.fork(), 'delete from jobs');
  await query(orm.em.fork(), `delete from organizations where name = 'Many'`);
});

it('usage reads a line for each closed day, endpoint and key, and none of their jobs', async () => {
  for (let job = 0; job < 300; job += 1) await admit({ at: `2026-03-1${job % 5}T10:00:00Z`, charged: 1 });
  await query(orm.em.fork(), 'analyze jobs');
  const rows = () => sent.rowsRead(() => read({ groupBy: ['day'] }), ['from closed_usage_days']);
  const before = await rows();
  expect(before.rows).toBeGreaterThanOrEqual(300);
  await close(MARCH_20);
  const after = await rows();
  expect(after.rows).toBeLessThan(20);
  expect(after.result).toEqual(before.result);
});

it('the verification of the ledger finds a closed day that its jobs do not add up to', async () => {
  await admit({ at: '2026-03-10T10:00:00Z', charged: 5 });
  await close(MARCH_20);
  await query(orm.em.fork(), 'update closed_usage_days set succeeded = 2');
  expect(await findUsageDrift()).toEqual([
    `usage of ${customer.organizationId} on 2026-03-10, dashboard.read, ${customer.keyIds.live}: ` +
      'closed at 2 jobs and 5 credits, there are 1 and 5',
  ]);
});

/** The jobs of this file have no ledger. */
const findUsageDrift = async () =>
  (await findLedgerDrift(orm.em.fork())).filter((finding) => finding.startsWith('usage'));
