/** What customers were promised, after a time of mixed load in which something broke. */
import { expect } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { until } from '../support/until.ts';
import type { FaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { idOf, isStored, type MixedLoad, type Submission } from './mixed-load.ts';

/** The second pause of a delivery that fails twice is 5 minutes. */
const DELIVERIES_TIMEOUT_MS = 6 * 60_000;
const FAILING_SHARE = 7;
const REPEATS_AT_ONCE = 8;

/** @param acknowledged ids of events, from `failOneInSeven` */
export async function expectPromisesKept(
  stack: FaultStack,
  load: MixedLoad,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  await expectInvariants(stack);
  await expectEverythingDelivered(stack, acknowledged);
  await repeatAll(stack, load);
  expect(load.record.surprises).toEqual([]);
  await expectOneJobEach(stack, load.record.submissions);
  await expectCanceled(stack, load.record.canceled);
}

/** One request in seven gets no 2xx: half of them a 500, half a broken connection. Returns the ids of acknowledged events. */
export function failOneInSeven({ receiver }: FaultStack): Set<string> {
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
async function expectEverythingDelivered(stack: FaultStack, acknowledged: ReadonlySet<string>): Promise<void> {
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
async function repeatAll(stack: FaultStack, load: MixedLoad): Promise<void> {
  const stored = load.record.submissions.filter(isStored);
  for (let done = 0; done < stored.length; done += REPEATS_AT_ONCE) {
    // Together they exceed the rate limit of one minute.
    await query(stack.orm.em.fork(), 'delete from rate_limits');
    await Promise.all(stored.slice(done, done + REPEATS_AT_ONCE).map((submission) => load.repeat(submission)));
  }
}

/** I3: every job was requested and acknowledged, under its own key. */
async function expectOneJobEach(stack: FaultStack, submissions: readonly Submission[]): Promise<void> {
  const jobs = await query<{ id: string; key: string }>(
    stack.orm.em.fork(),
    'select id, idempotency_key as key from jobs',
  );
  const asked = submissions.filter(({ ask }) => ask.kind !== 'upload' && ask.kind !== 'cancellation');
  const byKey = (rows: { id: string; key: string }[]) => rows.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  expect(byKey(jobs)).toEqual(byKey(asked.map((submission) => ({ id: idOf(submission), key: submission.key }))));
}

async function expectCanceled(stack: FaultStack, ids: readonly string[]): Promise<void> {
  const canceled = await query<{ id: string }>(
    stack.orm.em.fork(),
    "select id from jobs where status = 'canceled' order by id",
  );
  expect(canceled.map(({ id }) => id)).toEqual(ids.toSorted());
}
