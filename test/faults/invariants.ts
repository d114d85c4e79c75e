/** What must hold after every fault, whatever it was. */
import { expect } from 'vitest';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { until } from '../support/until.ts';
import type { FaultStack } from './fault-stack.ts';

/**
 * Covers a heartbeat that times out, a sweep of the outbox and the first steps of every backoff schedule. It is the bound of
 * one job, not of all that wait behind each other on a busy machine: the bound starts again whenever one of them has ended.
 */
const BOUND_MS = 240_000;

/**
 * I1: the ledger balances. I2: every job moved its credits once. I4: every committed job ended. I5: every terminal event
 * was delivered, each attempt with the same bytes. I6: nobody else sees any of it. The tests check I3, because they
 * have the responses. The API must be running.
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
  expect(await settledOtherwiseThanOnce(stack)).toEqual([]);
  expect(await deliveredOtherwiseThanRecorded(stack)).toEqual([]);
  await expectHidden(stack);
}

/** What remains once the count no longer falls is stuck. */
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

/** Ended jobs without exactly one hold, one capture or release of each credit, and the one event that their end causes. */
function settledOtherwiseThanOnce({ orm }: FaultStack): Promise<unknown[]> {
  return query(
    orm.em.fork(),
    `select id, status, reserved_credits, charged_credits, kinds, events
     from jobs
     cross join lateral (
       select coalesce(array_agg(kind order by kind), '{}') as kinds from credit_transfers where job_id = jobs.id
     ) as moved
     cross join lateral (select count(*)::int as events from events where job_id = jobs.id) as told
     where charged_credits > reserved_credits
       or (status in ('failed', 'expired', 'canceled') and charged_credits <> 0)
       or events <> case when status = 'canceled' then 0 else 1 end
       or kinds <> case
         when reserved_credits = 0 then array[]::text[]
         when charged_credits = 0 then array['hold', 'release']
         when charged_credits = reserved_credits then array['capture', 'hold']
         else array['capture', 'hold', 'release']
       end`,
  );
}

/** Deliveries that carry another id or other bytes than the one event of their job. */
async function deliveredOtherwiseThanRecorded({ orm, receiver }: FaultStack): Promise<string[]> {
  const rows = await query<{ id: string; payload: string }>(orm.em.fork(), 'select id, payload from events');
  const payloads = new Map(rows.map(({ id, payload }) => [id, payload]));
  return receiver.deliveries
    .filter(({ headers, rawBody }) => payloads.get(String(headers['webhook-id'])) !== rawBody)
    .map(({ headers, rawBody }) => `${String(headers['webhook-id'])}: ${rawBody}`);
}

/** From another organisation, and from the other mode. */
async function expectHidden(stack: FaultStack): Promise<void> {
  const { orm, seed, strangerKey } = stack;
  const latest = await query<{ id: string; livemode: boolean }>(
    orm.em.fork(),
    'select id, livemode from jobs order by id desc limit 3',
  );
  for (const { id, livemode } of latest) {
    for (const key of [strangerKey, livemode ? seed.keys.test : seed.keys.live]) {
      expect((await get(stack, `/v1/jobs/${id}`, key)).status).toBe(404);
    }
  }
  for (const list of ['/v1/jobs?limit=100', '/v1/events?limit=100']) {
    expect(await listed(stack, list, strangerKey)).toEqual([]);
    const ownMode = await listed(stack, list, seed.keys.test);
    expect(ownMode.filter(({ livemode }) => livemode)).toEqual([]);
  }
}

async function listed(stack: FaultStack, path: string, key: string): Promise<{ livemode: boolean }[]> {
  const response = await get(stack, path, key);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { livemode: boolean }[] }).data;
}

function get({ apiUrl }: FaultStack, path: string, key: string): Promise<Response> {
  return fetch(`${apiUrl}${path}`, { headers: { Authorization: `Bearer ${key}` } });
}
