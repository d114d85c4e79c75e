/** What must hold after every fault, whatever it was. */
import { expect } from '@jest/globals';
import { findLedgerDrift } from '../../src/db/credits/ledger.ts';
import { query } from '../../src/db/orm.ts';
import { until } from '../support/until.ts';
import type { FaultStack } from './fault-stack.ts';

/**
 * Covers a heartbeat that times out, a sweep of the outbox and the first steps of every ladder of retries. It is the bound of
 * one job, not of all that wait behind each other on a busy machine: whenever one has ended, the others have it anew.
 */
const BOUND_MS = 90_000;

/**
 * I1 and I2: the ledger balances, and every job moved its credits once. I4: every committed job ended. I5: every
 * terminal event was delivered. I6: nobody else sees any of it. The API is to run again.
 */
export async function expectInvariants(stack: FaultStack): Promise<void> {
  await expectToEmpty(() => openJobs(stack));
  await expectToEmpty(() => undelivered(stack));
  expect(await findLedgerDrift(stack.orm.em.fork())).toEqual([]);
  const [totals] = await query<{ held: string; unsettled: string }>(
    stack.orm.em.fork(),
    `select (select coalesce(sum(held), 0) from credit_accounts) as held,
       (select count(*) from jobs where completed_at is null) as unsettled`,
  );
  expect(totals).toEqual({ held: '0', unsettled: '0' });
  await expectHidden(stack);
}

/** What is left when nothing more leaves tells what is stuck. */
async function expectToEmpty(read: () => Promise<readonly unknown[]>): Promise<void> {
  for (let left = await read(); left.length > 0; ) {
    const before = left;
    const hasShrunk = async () => {
      left = await read();
      return left.length < before.length;
    };
    await until(hasShrunk, BOUND_MS).catch(() => {});
    if (left.length >= before.length) expect(left).toEqual([]);
  }
}

function openJobs({ orm }: FaultStack): Promise<unknown[]> {
  return query(
    orm.em.fork(),
    `select id, status, created_at, started_at, workflow_started_at,
       exists (select from inference_outcomes where job_id = id) as is_staged
     from jobs where completed_at is null`,
  );
}

/** Ids of terminal events that the receiver has not been sent. */
async function undelivered({ orm, receiver }: FaultStack): Promise<string[]> {
  const rows = await query<{ id: string }>(orm.em.fork(), `select id from events where type like 'job.%'`);
  const received = new Set(receiver.deliveries.map(({ rawBody }) => (JSON.parse(rawBody) as { id: string }).id));
  return rows.map(({ id }) => id).filter((id) => !received.has(id));
}

/** From another organisation, and from the other mode. */
async function expectHidden({ orm, apiUrl, seed, strangerKey }: FaultStack): Promise<void> {
  const latest = await query<{ id: string; livemode: boolean }>(
    orm.em.fork(),
    'select id, livemode from jobs order by id desc limit 3',
  );
  for (const { id, livemode } of latest) {
    for (const key of [strangerKey, livemode ? seed.keys.test : seed.keys.live]) {
      const { status } = await fetch(`${apiUrl}/v1/jobs/${id}`, { headers: { Authorization: `Bearer ${key}` } });
      expect(status).toBe(404);
    }
  }
}
