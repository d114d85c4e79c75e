/**
 * Any process dies at any instant, again and again, under mixed load. `FAULT_SEED=<number>` plans the same kills and the
 * same requests again; only the operating system's timing differs.
 */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query } from '../../src/platform/database/orm.ts';
import { useProcesses } from '../support/processes.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { carryOut, planKills, type Target } from './kill-plan.ts';
import { idOf, isStored, MixedLoad, type Submission } from './mixed-load.ts';
import { ROUNDS } from './rounds.ts';

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
/** The second pause of a delivery that fails twice is 5 minutes. */
const DELIVERIES_TIMEOUT_MS = 6 * 60_000;
const FAILING_SHARE = 7;
const REPEATS_AT_ONCE = 8;

const processes = useProcesses();
let stack: FaultStack;

it('a seed plans the same kills again, within the time', () => {
  const plan = planKills(new SeededRandom(seed), KILLS, DURATION_MS);
  expect(planKills(new SeededRandom(seed), KILLS, DURATION_MS)).toEqual(plan);
  expect(plan).toHaveLength(killCount);
  for (const { atMs } of plan) expect(atMs).toBeLessThan(DURATION_MS);
});

// Minutes, so only in `npm run test:faults`.
if (ROUNDS > 1) {
  describe('under mixed load', () => {
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

        await expectInvariants(stack);
        await expectEverythingDelivered(acknowledged);
        await repeatAll(load);
        await report(load, acknowledged);
        const { record } = load;
        expect(record.surprises).toEqual([]);
        await expectOneJobEach(record.submissions);
        await expectCanceled(record.canceled);
        expect(unplanned).toEqual([]);
      },
      30 * 60_000,
    );
  });
}

/** One request in seven gets no 2xx: half of them a 500, half a broken connection. Returns the ids of acknowledged events. */
function failOneInSeven({ receiver }: FaultStack): Set<string> {
  const acknowledged = new Set<string>();
  const failed = new Set<string>();
  let requests = 0;
  receiver.answerWith((response, { headers }) => {
    const id = String(headers['webhook-id']);
    requests += 1;
    // A second failure would only add the next pause, of five minutes.
    if (requests % FAILING_SHARE === 0 && !failed.has(id)) {
      failed.add(id);
      if (failed.size % 2 === 0) response.destroy();
      else response.writeHead(500).end();
      return;
    }
    acknowledged.add(id);
    response.writeHead(200).end();
  });
  return acknowledged;
}

/** I5: each event of each listening endpoint was acknowledged by the receiver, and the service knows it. */
async function expectEverythingDelivered(acknowledged: ReadonlySet<string>): Promise<void> {
  const pending = () =>
    query(
      stack.orm.em.fork(),
      `select id, event_id, status, workflow_started_at, next_attempt_at,
         (select json_agg(attempt order by attempt) from webhook_attempts as attempt where delivery_id = delivery.id) as attempts
       from webhook_deliveries as delivery where status <> 'delivered'`,
    );
  await until(async () => (await pending()).length === 0, DELIVERIES_TIMEOUT_MS).catch(() => {});
  expect(await pending()).toEqual([]);
  const events = await query<{ id: string; deliveries: number }>(
    stack.orm.em.fork(),
    `select id, (select count(*)::int from webhook_deliveries where event_id = events.id) as deliveries from events`,
  );
  expect(events.filter(({ id, deliveries }) => deliveries !== 1 || !acknowledged.has(id))).toEqual([]);
}

/** I3: a request repeated after everything has ended gets the first response. */
async function repeatAll(load: MixedLoad): Promise<void> {
  const stored = load.record.submissions.filter(isStored);
  for (let done = 0; done < stored.length; done += REPEATS_AT_ONCE) {
    // Together they exceed the rate limit of one minute.
    await query(stack.orm.em.fork(), 'delete from rate_limits');
    await Promise.all(stored.slice(done, done + REPEATS_AT_ONCE).map((submission) => load.repeat(submission)));
  }
}

/** I3: every job was requested and acknowledged, under its own key. */
async function expectOneJobEach(submissions: readonly Submission[]): Promise<void> {
  const jobs = await query<{ id: string; key: string }>(
    stack.orm.em.fork(),
    'select id, idempotency_key as key from jobs',
  );
  const asked = submissions.filter(({ ask }) => ask.kind !== 'upload' && ask.kind !== 'cancellation');
  const byKey = (rows: { id: string; key: string }[]) => rows.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  expect(byKey(jobs)).toEqual(byKey(asked.map((submission) => ({ id: idOf(submission), key: submission.key }))));
}

async function expectCanceled(ids: readonly string[]): Promise<void> {
  const canceled = await query<{ id: string }>(
    stack.orm.em.fork(),
    "select id from jobs where status = 'canceled' order by id",
  );
  expect(canceled.map(({ id }) => id)).toEqual(ids.toSorted());
}

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
