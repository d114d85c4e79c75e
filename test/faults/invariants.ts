/** What must hold after every fault, whatever it was. */
import { expect } from '@jest/globals';
import { findLedgerDrift } from '../../src/db/credits/ledger.ts';
import { query } from '../../src/db/orm.ts';
import { until } from '../support/until.ts';
import type { FaultStack } from './fault-stack.ts';

/** Covers a heartbeat that times out, a sweep of the outbox and the first steps of every ladder of retries. */
const BOUND_MS = 90_000;

/**
 * I1 and I2: the ledger balances, and every job moved its credits once. I4: every committed job ended. I5: every
 * terminal event was delivered. The API is to run again.
 */
export async function expectInvariants(stack: FaultStack): Promise<void> {
  await until(async () => (await openJobs(stack)).length === 0, BOUND_MS);
  await until(async () => (await undelivered(stack)).length === 0, BOUND_MS);
  expect(await findLedgerDrift(stack.orm.em.fork())).toEqual([]);
  const [totals] = await query<{ held: string; unsettled: string }>(
    stack.orm.em.fork(),
    `select (select coalesce(sum(held), 0) from credit_accounts) as held,
       (select count(*) from jobs where completed_at is null) as unsettled`,
  );
  expect(totals).toEqual({ held: '0', unsettled: '0' });
}

async function openJobs({ orm }: FaultStack): Promise<string[]> {
  const rows = await query<{ id: string }>(orm.em.fork(), 'select id from jobs where completed_at is null');
  return rows.map(({ id }) => id);
}

/** Ids of terminal events that the receiver has not been sent. */
async function undelivered({ orm, receiver }: FaultStack): Promise<string[]> {
  const rows = await query<{ id: string }>(orm.em.fork(), `select id from events where type like 'job.%'`);
  const received = new Set(receiver.deliveries.map(({ rawBody }) => (JSON.parse(rawBody) as { id: string }).id));
  return rows.map(({ id }) => id).filter((id) => !received.has(id));
}
