/**
 * A soak: several of every process of the service under a gentle mixed load, looked at every 15 seconds. Shows whether memory,
 * handles, connections and tables stay flat, and whether every promise was kept.
 *
 *     node bench/soak.ts [--minutes 60] [--every 15] [--keep] [--samples FILE] [--note TEXT]
 *
 * `--keep` writes the report and its charts to `bench/results/`; without it the report is only printed. `--samples` keeps what was
 * seen as JSON, of which `--from FILE` makes the report again. `PGBOUNCER=<program>` puts PgBouncer between the service and
 * PostgreSQL. Exits with 1 if a promise was broken or something grew.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isTemporalServerInstalled } from '../scripts/install-temporal-server.ts';
import { ProcessRecord } from '../src/embedded/process-record.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';
import { MixedLoad } from '../test/faults/mixed-load.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';
import { withCleanup } from './cleanup.ts';
import { readCommit } from './commit.ts';
import { watchMachine } from './machine.ts';
import { drawCharts } from './soak/chart.ts';
import { findBrokenPromises } from './soak/promises.ts';
import { startReaders } from './soak/readers.ts';
import { findGrowing, renderSoak, type SoakReport } from './soak/report.ts';
import { Latencies, type SoakSample, takeSample } from './soak/sampling.ts';
import { COUNTS, type SoakStack, startSoakStack } from './soak/stack.ts';

/** Of the pauses of `MixedLoad`: some three jobs a second. */
const SLOWNESS = 4;
const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    every: { type: 'string', default: '15' },
    keep: { type: 'boolean', default: false },
    samples: { type: 'string' },
    from: { type: 'string' },
    note: { type: 'string', multiple: true, default: [] },
  },
});
const directory = mkdtempSync(join(tmpdir(), 'vehicle-inference-soak-'));
const record = new ProcessRecord(join(directory, 'processes.json'));
const signal = listenForStop({ onFirst: () => console.error('Stopping …'), onSecond: leaveNothing });

try {
  // PostgreSQL may run under another account (postgres-user.ts), which must be able to enter here.
  chmodSync(directory, 0o755);
  const taken = options.from ? (JSON.parse(readFileSync(options.from, 'utf8')) as SoakReport) : await soak();
  const report = { ...taken, notes: [...(taken.notes ?? []), ...options.note] };
  if (options.samples) writeFileSync(options.samples, JSON.stringify(report));
  const text = renderSoak(report);
  console.log(`\n${text}`);
  if (options.keep) {
    writeFileSync(join(RESULTS, 'soak.md'), text);
    writeFileSync(join(RESULTS, 'soak.svg'), drawCharts(report.samples, report.minutes));
  }
  process.exitCode = report.broken.length === 0 && findGrowing(report).length === 0 ? 0 : 1;
} catch (error) {
  console.error(signal.aborted ? 'Stopped.' : error);
  process.exitCode = 1;
} finally {
  leaveNothing();
}

function soak(): Promise<SoakReport> {
  const startedAt = new Date().toISOString();
  // Before anybody changes the loaded sources.
  const commit = readCommit();
  const describe = watchMachine();
  return withCleanup(async (cleanup) => {
    console.log('Starting everything …');
    const context = { directory, record, cleanup, signal, say: console.log };
    const stack = await startSoakStack(context, {
      pgBouncer: process.env.PGBOUNCER,
      isTemporalServer: isTemporalServerInstalled(),
    });
    const latencies = new Latencies();
    const load = new MixedLoad(stack, new SeededRandom(1), {
      slowness: SLOWNESS,
      onAnswer: (kind, durationMs) => latencies.add(kind.endsWith('wait') ? 'wait' : kind, durationMs),
    });
    const readers = startReaders(stack, (durationMs) => latencies.add('read', durationMs));
    const { samples, minutes } = await takeSamples(stack, latencies);
    console.log('Ending the load …');
    await Promise.all([load.stop(), readers.stop()]);
    const broken = await findBrokenPromises(stack, load.record, signal);
    const { submissions, canceled, repeats, lost, refusals } = load.record;
    return {
      startedAt,
      minutes,
      commit,
      machine: describe(),
      stack: `${Object.entries(COUNTS)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}; ${stack.servers}`,
      load: {
        'requests with a key of their own': submissions.length,
        repetitions: repeats,
        cancellations: canceled.length,
        'responses lost': lost,
        'refusals with a retry': [...refusals.values()].reduce((sum, count) => sum + count, 0),
        'webhook requests': stack.receiver.deliveries.length,
      },
      broken: [...broken, ...readers.surprises.slice(0, 5)],
      samples,
    };
  });
}

async function takeSamples(
  stack: SoakStack,
  latencies: Latencies,
): Promise<{ samples: SoakSample[]; minutes: number }> {
  const everyMs = Number(options.every) * 1_000;
  const samples: SoakSample[] = [];
  const startedAtMs = performance.now();
  const elapsedMs = () => performance.now() - startedAtMs;
  const endMs = Number(options.minutes) * 60_000;
  for (let due = everyMs; due <= endMs; due += everyMs) {
    await delay(Math.max(0, due - elapsedMs()), undefined, { signal });
    const minute = elapsedMs() / 60_000;
    const values = await takeSample(stack, latencies, everyMs / 1_000);
    samples.push({ minute: Number(minute.toFixed(3)), values: rounded(values) });
    const { 'Jobs a second': rate, Memory: memory } = values;
    const totalMb = Object.values(memory ?? {}).reduce((sum, megabytes) => sum + megabytes, 0);
    console.log(`${minute.toFixed(1)} min: ${rate?.ended?.toFixed(1)} jobs a second, ${Math.round(totalMb)} MB`);
  }
  return { samples, minutes: elapsedMs() / 60_000 };
}

function rounded(values: SoakSample['values']): SoakSample['values'] {
  const shorten = (series: Record<string, number>) =>
    Object.fromEntries(Object.entries(series).map(([name, value]) => [name, Number(value.toPrecision(5))]));
  return Object.fromEntries(Object.entries(values).map(([group, series]) => [group, shorten(series)]));
}

/** Processes are normally stopped by now; this kills those of an interrupted stop. */
function leaveNothing(): void {
  record.killAll();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
