/** Which process dies when: planned from a seed, carried out against the processes. */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { query } from '../../src/platform/database/orm.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';
import { type FaultStack, PART_NAMES, type Part, type PartName } from './fault-stack.ts';

export type Target = PartName | 'inference child' | 'PostgreSQL session' | 'PostgreSQL';

export interface Kill {
  target: Target;
  /** Since the beginning of the plan. */
  atMs: number;
  /** From 0 to 1: which one, where a target is several. */
  choice: number;
}

/** Covers a start on a machine with other work, and starts that fail while PostgreSQL is away. */
const RESTART_TIMEOUT_MS = 120_000;

/** So many kills of each target, at random instants in random order. */
export function planKills(random: SeededRandom, counts: Record<Target, number>, durationMs: number): Kill[] {
  const targets = Object.entries(counts).flatMap(([target, count]) => Array<Target>(count).fill(target as Target));
  const instants = targets.map(() => random.below(durationMs)).toSorted((one, other) => one - other);
  return random.shuffled(targets).map((target, index) => ({
    target,
    atMs: instants[index] ?? durationMs,
    choice: random.fraction(),
  }));
}

/**
 * Carries the plan out and starts again at once what it killed. Kills that fall into the restart of their own target
 * follow as soon as it is up. Returns the processes that ended without being killed.
 */
export async function carryOut(stack: FaultStack, plan: readonly Kill[]): Promise<string[]> {
  const unplanned: string[] = [];
  const watch = ({ name, process }: Part) => {
    void process.exited.then(({ code, signal }) => {
      if (signal !== 'SIGKILL') unplanned.push(`${name} ended by itself: code ${code}, signal ${signal}`);
    });
  };
  for (const name of PART_NAMES) watch(stack.parts[name]);
  const strike = async ({ target, choice }: Kill) => {
    switch (target) {
      case 'inference child':
        return killChild(stack.parts.inference, choice);
      case 'PostgreSQL session':
        return endSession(stack, choice);
      case 'PostgreSQL':
        return restartPostgres(stack);
      case 'api':
      case 'orchestration':
      case 'inference':
      case 'webhooks': {
        const part = stack.parts[target];
        await part.kill();
        await startAgain(part);
        return watch(part);
      }
    }
  };
  const beganMs = performance.now();
  const queues = Map.groupBy(plan, ({ target }) => victimOf(target));
  const failed = new AbortController();
  const running = [...queues.values()].map(async (kills) => {
    for (const kill of kills) {
      await delay(Math.max(0, beganMs + kill.atMs - performance.now()), undefined, { signal: failed.signal });
      await strike(kill);
    }
  });
  for (const queue of running) queue.catch((error: unknown) => failed.abort(error));
  // Also when one fails: a restart under way elsewhere would outlive the test.
  await Promise.allSettled(running);
  failed.signal.throwIfAborted();
  return unplanned;
}

/** The process that must run for a kill of the target. It takes part in one kill at a time. */
function victimOf(target: Target): string {
  if (target === 'inference child') return 'inference';
  return target === 'PostgreSQL session' ? 'PostgreSQL' : target;
}

/** As a supervisor does: again, when the start itself fails because a server is away or does not respond in time. */
export async function startAgain(part: Part): Promise<void> {
  await until(
    () =>
      part.start().then(
        () => true,
        () => false,
      ),
    RESTART_TIMEOUT_MS,
  );
}

async function killChild({ process: parent }: Part, choice: number): Promise<void> {
  await until(() => {
    const children = childrenOf(parent.pid);
    const pid = children[Math.floor(choice * children.length)];
    return pid !== undefined && isKilled(pid);
  }, RESTART_TIMEOUT_MS);
}

/** False for a process that has just ended. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function childrenOf(parentPid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state = 'Z']) => Number(parent) === parentPid && !state.startsWith('Z'))
    .map(([pid]) => Number(pid));
}

/** One session of the service, not of the test. */
async function endSession({ orm }: FaultStack, choice: number): Promise<void> {
  await query(
    orm.em.fork(),
    `with others as (
       select pid, row_number() over (order by pid) - 1 as number, count(*) over () as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
     )
     select pg_terminate_backend(pid) from others where number = floor($1::float8 * count)`,
    [choice],
  );
}

/** As `pg_ctl stop -m immediate` and a start do. */
async function restartPostgres({ postgres }: FaultStack): Promise<void> {
  postgres.program.signal('SIGQUIT');
  await postgres.program.exited;
  postgres.program = await postgres.server.start();
}
