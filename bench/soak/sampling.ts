/** What a look at every process, the database, the files and Temporal shows. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readBacklog } from '../../src/jobs/backlog-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { quantile } from '../statistics.ts';
import type { SoakStack } from './stack.ts';

/** By group and series: `values.Memory['API 1']`. */
export type SampleValues = Record<string, Record<string, number>>;

export interface SoakSample {
  minute: number;
  values: SampleValues;
}

/** Times of the requests since the last sample. */
export class Latencies {
  readonly #byKind = new Map<string, number[]>();

  add(kind: string, durationMs: number): void {
    const durations = this.#byKind.get(kind);
    if (durations) durations.push(durationMs);
    else this.#byKind.set(kind, [durationMs]);
  }

  take(): Record<string, number> {
    const taken: Record<string, number> = {};
    for (const [kind, durations] of this.#byKind) {
      taken[`${kind}, p50`] = quantile(durations, 0.5);
      taken[`${kind}, p99`] = quantile(durations, 0.99);
    }
    this.#byKind.clear();
    return taken;
  }
}

const MEGABYTE = 2 ** 20;
const TABLES = [
  'jobs',
  'credit_transfers',
  'credit_accounts',
  'rate_limits',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'webhook_endpoints',
  'idempotency_claims',
  'inference_outcomes',
  'stage_outcomes',
  'uploads',
];
/** Rows that stay for ever: what one of them takes may not grow. */
const KEPT = ['jobs', 'credit_transfers'];
const STORED_FOLDERS = ['jobs', 'uploads', 'artefacts'];

export async function takeSample(stack: SoakStack, latencies: Latencies, seconds: number): Promise<SampleValues> {
  const { pids, metricsUrls, orm, temporal, storage } = stack;
  const parents = readParents();
  const processes = Object.entries(pids).map(([name, pid]) => ({ name, ...lookAtTree(pid, parents) }));
  const perProcess = (of: keyof Footprint) => Object.fromEntries(processes.map((one) => [one.name, one[of]]));
  const metrics = await Promise.all(
    Object.entries(metricsUrls).map(async ([name, url]) => ({ name, text: await (await fetch(url)).text() })),
  );
  const heap = Object.fromEntries(
    metrics.map(({ name, text }) => [name, sumOf(text, 'nodejs_heap_size_used_bytes') / MEGABYTE]),
  );
  const em = orm.em.fork();
  const tables = await query<{ name: string; bytes: string; live: string; dead: string }>(
    em,
    `select relname as name, pg_total_relation_size(relid) as bytes, n_live_tup as live, n_dead_tup as dead
     from pg_stat_user_tables where relname = any ($1)`,
    [TABLES],
  );
  const perTable = (of: (table: { bytes: number; live: number; dead: number }) => number, names = TABLES) =>
    Object.fromEntries(
      tables
        .filter(({ name }) => names.includes(name))
        .map(({ name, bytes, live, dead }) => [
          name,
          of({ bytes: Number(bytes), live: Number(live), dead: Number(dead) }),
        ]),
    );
  const connections = await query<{ state: string | null; count: number }>(
    em,
    `select coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
     where backend_type = 'client backend' and datname = current_database() group by 1`,
  );
  const [recent] = await query<{ ended: number; p50: number | null; p99: number | null }>(
    em,
    `select count(*)::int as ended, percentile_cont(0.5) within group (order by ms) filter (where livemode) as p50,
       percentile_cont(0.99) within group (order by ms) filter (where livemode) as p99
     from (
       select livemode, extract(epoch from completed_at - created_at)::float8 * 1000 as ms from jobs
       where completed_at >= now() - $1 * interval '1 second'
     ) as ended_jobs`,
    [seconds],
  );
  const backlog = await readBacklog(em);
  // An overloaded server refuses now and then, which says nothing of what it holds.
  const running = await temporal.workflow.count("ExecutionStatus = 'Running'").catch(() => null);
  const orchestration = metrics.find(({ name }) => name === 'orchestration 1');
  return {
    Memory: perProcess('memoryMb'),
    Heap: heap,
    'File handles': perProcess('handles'),
    Sockets: perProcess('sockets'),
    'PostgreSQL connections': {
      open: connections.reduce((sum, { count }) => sum + count, 0),
      'in a transaction': connections.find(({ state }) => state === 'idle in transaction')?.count ?? 0,
    },
    'Tables whose rows go': perTable(
      ({ bytes }) => bytes / 1024,
      TABLES.filter((name) => !KEPT.includes(name)),
    ),
    'Bytes a row of tables whose rows stay': perTable(({ bytes, live }) => bytes / Math.max(live, 1), KEPT),
    'Dead rows': perTable(({ dead }) => dead),
    'Rows that stay': perTable(({ live }) => live, KEPT),
    Files: Object.fromEntries(STORED_FOLDERS.map((folder) => [folder, countFiles(join(storage, folder))])),
    Backlog: {
      ...(running && { 'running workflows': running.count }),
      'tasks in queues': orchestration ? sumOf(orchestration.text, 'task_queue_backlog') : 0,
      'open jobs': backlog.openJobs.reduce((sum, { jobs }) => sum + jobs, 0),
      'pending deliveries': backlog.pendingDeliveries.deliveries,
    },
    'Jobs a second': { ended: (recent?.ended ?? 0) / seconds },
    'Time, ms': {
      ...(recent?.p50 && recent.p99 ? { 'live job, p50': recent.p50, 'live job, p99': recent.p99 } : {}),
      ...latencies.take(),
    },
  };
}

interface Footprint {
  memoryMb: number;
  handles: number;
  sockets: number;
}

/** Of a process with its descendants. Memory is what belongs to it alone: anonymous pages (RssAnon). */
function lookAtTree(root: number, parents: ReadonlyMap<number, number>): Footprint {
  const isOfTree = (pid: number): boolean => pid === root || (parents.has(pid) && isOfTree(parents.get(pid) ?? 0));
  const total: Footprint = { memoryMb: 0, handles: 0, sockets: 0 };
  for (const pid of parents.keys()) {
    if (!isOfTree(pid)) continue;
    total.memoryMb += Number.parseInt(readStatus(pid)?.RssAnon ?? '0', 10) / 1024;
    for (const handle of handlesOf(pid)) {
      total.handles += 1;
      if (handle.startsWith('socket:')) total.sockets += 1;
    }
  }
  return total;
}

/** Of every process its parent. */
function readParents(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const fields = /^\d+$/.test(entry) ? readStatus(Number(entry)) : null;
    if (fields) parents.set(Number(entry), Number(fields.PPid));
  }
  return parents;
}

/** Null once the process has ended. */
function readStatus(pid: number): Record<string, string> | null {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
    return Object.fromEntries(lines.map((line) => line.split(':\t') as [string, string]));
  } catch {
    return null;
  }
}

function handlesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const read = <Result>(action: () => Result, ended: Result): Result => {
    try {
      return action();
    } catch {
      return ended;
    }
  };
  return read(() => readdirSync(folder), []).map((fd) => read(() => readlinkSync(join(folder, fd)), ''));
}

function countFiles(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  } catch {
    return 0;
  }
}

/** Of all values of a metric, whatever their labels and the prefix of its name. */
function sumOf(text: string, metric: string): number {
  const line = new RegExp(`^\\w*${metric}(?:\\{[^}]*\\})? (\\S+)`, 'gm');
  return [...text.matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0);
}
