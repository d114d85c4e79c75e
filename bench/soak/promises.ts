/** What customers were promised, looked at when the load is over and nothing is open any more. */
import { setTimeout as delay } from 'node:timers/promises';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { idOf, type LoadRecord } from '../../test/faults/mixed-load.ts';
import type { SoakStack } from './stack.ts';

/** Longer than the pauses before the second and the third attempt of a delivery (5 s and 5 min). */
const PATIENCE_MS = 7 * 60_000;
const LOOK_AGAIN_MS = 1_000;
const MOST_NAMED = 5;

/** Returns the broken promises in words. Retention may have deleted events: jobs, which stay, say what there was to deliver. */
export async function findBrokenPromises(stack: SoakStack, record: LoadRecord, signal: AbortSignal): Promise<string[]> {
  const em = stack.orm.em.fork();
  const open = () =>
    query<{ id: string }>(
      em,
      `select id from jobs where completed_at is null
       union all select id from webhook_deliveries where status = 'pending'`,
    );
  const deadline = performance.now() + PATIENCE_MS;
  while ((await open()).length > 0 && performance.now() < deadline) {
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
  const jobs = await query<{ id: string; key: string; status: string }>(
    em,
    'select id, idempotency_key as key, status from jobs',
  );
  const failedDeliveries = await query<{ id: string }>(em, "select id from webhook_deliveries where status = 'failed'");
  const asked = record.submissions.filter(
    ({ ask, status }) => status < 300 && ask.kind !== 'upload' && ask.kind !== 'cancellation',
  );
  return [
    ...some(
      'not ended',
      (await open()).map(({ id }) => id),
    ),
    ...(await findLedgerDrift(em)),
    ...some('answered otherwise than promised', record.surprises),
    ...some(
      'asked for and not there, or there and not asked for',
      differences(
        jobs,
        asked.map((one) => ({ id: idOf(one), key: one.key })),
      ),
    ),
    ...some('canceled, against what was acknowledged', differencesOfIds(jobs, record.canceled)),
    ...some(
      'deliveries that failed for good',
      failedDeliveries.map(({ id }) => id),
    ),
    ...wronglyTold(stack, jobs),
  ];
}

/** Each job that ended otherwise than by cancellation was told of by one event, with the same bytes each time. */
function wronglyTold({ receiver }: SoakStack, jobs: readonly { id: string; status: string }[]): string[] {
  const bodies = new Map<string, string>();
  const eventsByJob = new Map<string, Set<string>>();
  const changed: string[] = [];
  for (const { headers, rawBody } of receiver.deliveries) {
    const eventId = String(headers['webhook-id']);
    if ((bodies.get(eventId) ?? rawBody) !== rawBody) changed.push(eventId);
    bodies.set(eventId, rawBody);
    const { type, data } = JSON.parse(rawBody) as { type: string; data: { object: { id: string } } };
    if (!type.startsWith('job.')) continue;
    const { id } = data.object;
    eventsByJob.set(id, (eventsByJob.get(id) ?? new Set()).add(eventId));
  }
  const told = (id: string) => eventsByJob.get(id)?.size ?? 0;
  const wrong = jobs.filter(({ id, status }) => told(id) !== (status === 'canceled' ? 0 : 1));
  return [
    ...some('events whose bytes changed', changed),
    ...some(
      'jobs not told of by one event',
      wrong.map(({ id, status }) => `${id} (${status}): ${told(id)}`),
    ),
  ];
}

interface KeyedJob {
  id: string;
  key: string;
}

function differences(there: readonly KeyedJob[], asked: readonly KeyedJob[]): string[] {
  const text = ({ id, key }: KeyedJob) => `${id} under ${key}`;
  return difference(there.map(text), asked.map(text));
}

function differencesOfIds(jobs: readonly { id: string; status: string }[], canceled: readonly string[]): string[] {
  return difference(
    jobs.filter(({ status }) => status === 'canceled').map(({ id }) => id),
    canceled,
  );
}

function difference(some: readonly string[], others: readonly string[]): string[] {
  return [...new Set(some).symmetricDifference(new Set(others))];
}

function some(what: string, cases: readonly string[]): string[] {
  return cases.length === 0 ? [] : [`${cases.length} ${what}: ${cases.slice(0, MOST_NAMED).join('; ')}`];
}
