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
 * terminal event was delivered. I6: nobody else sees any of it. The API is to run again.
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
  await expectHidden(stack);
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
