/**
 * Any process dies at any instant, again and again, under mixed load. `FAULT_SEED=<number>` plans the same kills and the
 * same requests again; only the operating system's timing differs.
 */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { describeWith } from '../support/needs.ts';
import { useProcesses } from '../support/processes.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { carryOut, planKills, type Target } from './kill-plan.ts';
import { MixedLoad } from './mixed-load.ts';
import { expectPromisesKept, failOneInSeven } from './promises.ts';

const DURATION_MS = 120_000;
const KILLS: Record<Target, number> = {
  api: 11,
  orchestration: 12,
  inference: 12,
  webhooks: 11,
  'inference child': 8,
  'PostgreSQL session': 8,
  PostgreSQL: 2,
};

const seed = Number(process.env.FAULT_SEED ?? randomInt(1, 2 ** 31));
const killCount = Object.values(KILLS).reduce((sum, count) => sum + count, 0);

const processes = useProcesses();
let stack: FaultStack;

it('a seed plans the same kills again, within the time', () => {
  const plan = planKills(new SeededRandom(seed), KILLS, DURATION_MS);
  expect(planKills(new SeededRandom(seed), KILLS, DURATION_MS)).toEqual(plan);
  expect(plan).toHaveLength(killCount);
  for (const { atMs } of plan) expect(atMs).toBeLessThan(DURATION_MS);
});

describeWith('rounds', 'under mixed load', () => {
  beforeAll(async () => {
    stack = await startFaultStack(processes);
  }, 600_000);
  afterAll(() => stack.close());

  it(
    `${killCount} kills at random instants of ${DURATION_MS / 1_000} seconds (FAULT_SEED=${seed}): ` +
      'every acknowledged job ends and is charged once, every repetition gets the same bytes, every event arrives',
    async () => {
      const random = new SeededRandom(seed);
      const plan = planKills(random, KILLS, DURATION_MS);
      const acknowledged = failOneInSeven(stack);
      const load = new MixedLoad(stack, random);
      let unplanned: string[];
      try {
        unplanned = await carryOut(stack, plan);
      } finally {
        await load.stop();
      }

      await expectPromisesKept(stack, load, acknowledged);
      await report(load, acknowledged);
      expect(unplanned).toEqual([]);
    },
    30 * 60_000,
  );
});

async function report({ record }: MixedLoad, acknowledged: ReadonlySet<string>): Promise<void> {
  const em = stack.orm.em.fork();
  const ended = await query(
    em,
    `select status, count(*)::int as jobs, sum(charged_credits)::int as charged from jobs group by status order by status`,
  );
  const { submissions, canceled, lost, refusals, repeats } = record;
  const asked = Map.groupBy(submissions, ({ ask }) => ask.kind);
  console.info(
    JSON.stringify({
      seed,
      kills: KILLS,
      asked: Object.fromEntries([...asked].map(([kind, { length }]) => [kind, length])),
      ended,
      canceled: canceled.length,
      lost,
      refusals: Object.fromEntries(refusals),
      repeats,
      deliveries: stack.receiver.deliveries.length,
      acknowledgedEvents: acknowledged.size,
    }),
  );
}
