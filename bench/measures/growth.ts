/** The statements that the service sends most: in a database that has grown for 400 days, and in one that holds hardly more than they answer. */
import { pino } from 'pino';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { openDatabase } from '../../src/database.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { deleteOldEvents } from '../../src/jobs/retention-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { sweepMonths, sweepUsage } from '../../src/workers/sweep-credits.ts';
import { readCpuSeconds, subtractCpu } from '../cpu.ts';
import type { Effort } from '../effort.ts';
import { DAYS, fill, HOT } from '../growth/fill.ts';
import { type Filled, type GrowthStatement, STATEMENTS } from '../growth/statements.ts';
import { alternate, type Comparison, compare, type Sample, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import type { BenchContext, Postgres } from '../servers.ts';
import { median } from '../statistics.ts';

const ORGANIZATIONS = 1_000;
/** Enough that each list of the empty side fills its page, or both would not send the same. */
const EMPTY_JOBS = 1_000;
const HOT_EVERY = 5;
const PROCESSES = ['PostgreSQL', 'load generator'] as const;
/** Rounds of one statement: many run, and slow ones are told by few. */
const BUDGET_MS = 12_000;
/** After which PostgreSQL has settled on the plan of a prepared statement. */
const WARM_UP_CALLS = 8;
const GOAL = { atLeast: 0.9 };
const DAY_MS = 24 * 60 * 60_000;

interface Database extends Filled {
  name: string;
  what: string;
  url: string;
  calls: number;
}

export async function measureGrowth(context: BenchContext, postgres: Postgres, effort: Effort): Promise<MeasureResult> {
  const { say, signal } = context;
  const now = new Date();
  const pids = { PostgreSQL: postgres.pid, 'load generator': process.pid };
  const notes: string[] = [];
  const prepare = async (name: string, jobs: number, hotEvery: number): Promise<Database> => {
    const startedAtMs = performance.now();
    const url = await postgres.createDatabase(`growth_${name}`);
    const organizations = await fill(url, {
      jobs,
      organizations: ORGANIZATIONS,
      hotEvery,
      now,
      signal,
      onProgress: (what) => say(`Growth, ${name}: ${what} after ${secondsSince(startedAtMs)} s`),
    });
    say(`Growth, ${name}: filled after ${secondsSince(startedAtMs)} s; closing its months and its usage …`);
    const filledAtMs = performance.now();
    const orm = await openDatabase({ url, poolSize: 2, statementTimeoutMs: null });
    context.cleanup.add(() => orm.close());
    await announceInstalledEndpoints(
      orm.em.fork(),
      endpoints.map(({ slug }) => ({ endpoint: slug, modelVersion: 'reader@2026-01-01' })),
      [],
    );
    const sweep = { orm, logger: pino({ enabled: false }), clock: () => now, signal };
    await sweepMonths(sweep);
    const closedAtMs = performance.now();
    await sweepUsage(sweep);
    const sweptAtMs = performance.now();
    const jobIds = await query<{ id: string }>(
      orm.em.fork(),
      'select id from jobs where organization_id = $1 order by md5(id) limit 500',
      [HOT],
    );
    const [size] = await query<{ bytes: string }>(
      orm.em.fork(),
      'select pg_database_size(current_database()) as bytes',
    );
    const what =
      `${jobs} jobs over ${DAYS} days with their ledger, events, deliveries, attempts and claims, ` +
      `${ORGANIZATIONS} organisations, the measured one with ${hotEvery === 1 ? 'all' : 'a fifth'} of the jobs; ` +
      `${(Number(size?.bytes) / 2 ** 30).toFixed(2)} GB`;
    notes.push(
      `Growth, ${name}: filled in ${Math.round((filledAtMs - startedAtMs) / 1000)} s; its months were then closed in ` +
        `${((closedAtMs - filledAtMs) / 1000).toFixed(1)} s, its usage in ${((sweptAtMs - closedAtMs) / 1000).toFixed(1)} s.`,
    );
    return {
      name,
      what,
      url,
      em: () => orm.em.fork(),
      organizations,
      jobIds: jobIds.map(({ id }) => id),
      now,
      calls: 0,
    };
  };
  say(`Growth: filling a database with ${effort.growthJobs} jobs …`);
  const empty = await prepare('empty', EMPTY_JOBS, 1);
  const large = await prepare('large', effort.growthJobs, HOT_EVERY);

  const comparisons: Comparison[] = [];
  for (const statement of STATEMENTS) {
    say(`Growth: ${statement.name} …`);
    const [a, b] = [empty, large].map((database) => sideOf(database, statement, { pids, signal })) as [Side, Side];
    for (const database of [empty, large]) await callsOf(database, statement, WARM_UP_CALLS, signal);
    const samples = await alternate([a, b], { rounds: effort.rounds, budgetMs: BUDGET_MS, signal });
    comparisons.push(compare(samples, { name: statement.name, unit: 'ms p50', a, b, goal: GOAL }));
  }
  notes.push(await retentionRate(large));
  const drift = await Promise.all([empty, large].map(({ em }) => findLedgerDrift(em())));
  return { comparisons, broken: drift.flat(), notes };
}

const secondsSince = (sinceMs: number) => Math.round((performance.now() - sinceMs) / 1000);

function sideOf(
  database: Database,
  statement: GrowthStatement,
  { pids, signal }: { pids: Record<string, number>; signal: AbortSignal },
): Side {
  return {
    name: database.name,
    what: database.what,
    processes: PROCESSES,
    async run(): Promise<Sample> {
      const before = readCpuSeconds(pids);
      const durationsMs = await callsOf(database, statement, statement.calls, signal);
      const cpuSeconds = subtractCpu(readCpuSeconds(pids), before);
      // What prepares a call costs CPU too.
      return {
        value: median(durationsMs),
        jobs: durationsMs.length,
        cpuSeconds: statement.prepare ? null : cpuSeconds,
      };
    },
  };
}

/** Milliseconds of each call. */
async function callsOf(
  database: Database,
  { prepare, run }: GrowthStatement,
  calls: number,
  signal: AbortSignal,
): Promise<number[]> {
  const durationsMs: number[] = [];
  for (let done = 0; done < calls; done += 1) {
    signal.throwIfAborted();
    database.calls += 1;
    const input = (await prepare?.(database, database.calls)) ?? '';
    const startedAtMs = performance.now();
    await run(database, input);
    durationsMs.push(performance.now() - startedAtMs);
  }
  return durationsMs;
}

/** How fast retention deletes what really is old. */
async function retentionRate({ em, now }: Database): Promise<string> {
  const startedAtMs = performance.now();
  let rows = 0;
  for (let batch = 0; batch < 40; batch += 1) {
    const deleted = await deleteOldEvents(em(), new Date(now.getTime() - 30 * DAY_MS));
    rows += deleted.rows;
    if (!deleted.hasMore) break;
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  return `Growth, large: retention deleted ${rows} events in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} a second.`;
}
