/** The statements that the service sends most, each by the function that sends it. */
import { readCreditBalances } from '../../src/credits/credit-balances-store.ts';
import { monthBounds, monthOf } from '../../src/credits/statements.ts';
import { closeMonths, readStatement, readStatements } from '../../src/credits/statements-store.ts';
import { findTransfers } from '../../src/credits/transfers-store.ts';
import { closeUsage, readUsage, type UsageGroup } from '../../src/credits/usage-store.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { readBacklog } from '../../src/jobs/backlog-store.ts';
import { Job } from '../../src/jobs/entities.ts';
import { deleteExpiredIdempotencyClaims } from '../../src/jobs/idempotency-claims-store.ts';
import { claimStrandedJobs, releaseStrandedJobs } from '../../src/jobs/outbox-store.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { findReadableEvents, findReadableJob, findReadableJobs } from '../../src/jobs/readable-jobs-store.ts';
import { deleteOldEvents, deleteUsedUploads, forgetOldResults } from '../../src/jobs/retention-store.ts';
import { planTransition } from '../../src/jobs/settlement.ts';
import { readJobToSettle, settleJob } from '../../src/jobs/settlement-store.ts';
import { deleteLeftStageOutcomes } from '../../src/jobs/stage-outcomes-store.ts';
import { type EntityManager, query } from '../../src/platform/database/orm.ts';
import { findPage, findPageOfParts } from '../../src/platform/database/pages.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { deleteExpiredUploads } from '../../src/uploads/uploads-store.ts';
import { readDeliveryLog } from '../../src/webhooks/deliveries-store.ts';
import { WebhookDelivery } from '../../src/webhooks/entities.ts';
import { findStrandedDeliveries } from '../../src/webhooks/outbox-store.ts';
import { admit, newAdmission } from '../admission-statement.ts';
import type { Organization } from '../organizations.ts';
import { COLD, ENDPOINTS, HOT, HOT_WEBHOOK_ENDPOINT, RARE_ENDPOINT, RARE_KEY } from './fill.ts';

export interface Filled {
  em: () => EntityManager;
  organizations: readonly Organization[];
  /** Ids of jobs of the hot organisation, at random over all times. */
  jobIds: readonly string[];
  now: Date;
}

export interface GrowthStatement {
  name: string;
  /** Before each call, and not measured; its result is the input of `run`. */
  prepare?: (filled: Filled, call: number) => Promise<string>;
  run: (filled: Filled, input: string) => Promise<unknown>;
  /** Calls of a turn. */
  calls: number;
}

const READS = 20;
const WRITES = 40;
const BATCHES = 4;
/** Rows that a page of either database has. */
const limit = 10;
const DAY_MS = 24 * 60 * 60_000;
const endpoint = endpointBySlug('dashboard.read');

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);
const seconds = (time: Date) => Math.floor(time.getTime() / 1000);
const hot = { organizationId: HOT, livemode: true };
const reader = { ...hot, endpoints: null };
const familyReader = { ...hot, endpoints: [ENDPOINTS[1], RARE_ENDPOINT] };
const rareReader = { ...hot, endpoints: [RARE_ENDPOINT, 'vehicle.segment'] };
/** Five days, long ago. */
const longAgo = (now: Date) => ({
  'created[gte]': seconds(daysBefore(now, 300)),
  'created[lt]': seconds(daysBefore(now, 295)),
});

async function admitted({ em, organizations }: Filled, call: number): Promise<string> {
  const organization = organizations[call % organizations.length] as Organization;
  const known = newAdmission({ endpoint, organization });
  await admit(em(), known);
  return known.admission.job.id;
}

async function pickedUp(filled: Filled, call: number): Promise<string> {
  const id = await admitted(filled, call);
  await pickUpJob(filled.em(), id, 'reader@2026-01-01', new Date());
  return id;
}

async function settle({ em }: Filled, id: string): Promise<void> {
  const found = await readJobToSettle(em(), id);
  if (!found) throw new Error(`there is no job ${id}`);
  const outcome = { status: 'succeeded', result: {}, error: null, chargedCredits: endpoint.priceCredits } as const;
  if (!(await settleJob(em(), planTransition({ ...found, outcome }, null, new Date()))))
    throw new Error(`${id} had ended`);
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

const usage = (days: number, ...groupBy: UsageGroup[]): GrowthStatement => ({
  name: `Usage of ${days} days by ${groupBy.join(' and ')}`,
  run: ({ em, now }) =>
    readUsage(em(), { organizationId: HOT, from: dayOf(daysBefore(now, days - 1)), to: dayOf(now), groupBy }),
  calls: BATCHES,
});

const boundsOf = (time: Date) => {
  const bounds = monthBounds(monthOf(time));
  if (!bounds) throw new Error('every time is in a month');
  return bounds;
};

async function deliveries({ em }: Filled, where: object): Promise<void> {
  const of = { webhookEndpoint: HOT_WEBHOOK_ENDPOINT, ...where };
  const { rows } = await findPage<WebhookDelivery>(em(), WebhookDelivery, 'webhookDelivery', of, { limit });
  await readDeliveryLog(em(), rows);
}

/** A batch of claims that expired, older than all others. */
async function expiredClaims({ em }: Filled): Promise<string> {
  await query(
    em(),
    `insert into idempotency_claims
       (organization_id, livemode, route, key, fingerprint, response_status, response_body, expires_at)
     select $1, true, 'growth', gen_random_uuid()::text, '\\x00', 202, '{}', now() - interval '500 days'
     from generate_series(1, 1000)`,
    [HOT],
  );
  return '';
}

/** A batch of uploads that no job used in time, older than all others. */
async function expiredUploads({ em }: Filled, call: number): Promise<string> {
  await query(
    em(),
    `insert into uploads (id, organization_id, livemode, status, media_type, bytes, storage_key, expires_at)
     select 'upl_' || $2 || n, $1, true, 'ready', 'image/jpeg', 1, 'uploads/upl_' || $2 || n, now() - interval '500 days'
     from generate_series(1, 200) as n`,
    [HOT, `${call}_`],
  );
  return '';
}

/** A batch of events with a delivery and an attempt each, older than all others. */
async function oldEvents({ em, now }: Filled, call: number): Promise<string> {
  await query(
    em(),
    `with old as (
       select left($3, 14) || lpad($4::text, 4, '0') || lpad(n::text, 8, '0') as id from generate_series(1, 500) as n
     ), made as (
       insert into events (id, organization_id, livemode, is_staging, type, payload, created_at)
       select 'evt_' || substr(id, 5), $1, true, false, 'job.succeeded', repeat('x', 400), now() - interval '500 days' from old
     ), delivered as (
       insert into webhook_deliveries (id, event_id, webhook_endpoint_id, status, created_at, completed_at, workflow_started_at)
       select 'whd_' || substr(id, 5), 'evt_' || substr(id, 5), $2, 'delivered', now(), now(), now() from old
     )
     insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code)
     select 'whd_' || substr(id, 5), 1, now(), 1, 200 from old`,
    [HOT, HOT_WEBHOOK_ENDPOINT, firstIdAt('event', daysBefore(now, 500)), call],
  );
  return '';
}

const jobs = (name: string, filter: (now: Date) => object, of: typeof reader | typeof familyReader = reader) => ({
  name: `Jobs, ${name}`,
  run: ({ em, now }: Filled) => findReadableJobs(em(), of, { limit, ...filter(now) }),
  calls: READS,
});

const events = (name: string, filter: (now: Date) => object, of: typeof reader | typeof familyReader = reader) => ({
  name: `Events, ${name}`,
  run: ({ em, now }: Filled) => findReadableEvents(em(), of, { limit, ...filter(now) }, now),
  calls: READS,
});

const transfers = (name: string, organizationId: string, filter: (now: Date) => object) => ({
  name: `Ledger, ${name}`,
  run: ({ em, now }: Filled) => findTransfers(em(), organizationId, { limit, ...filter(now) }),
  calls: READS,
});

export const STATEMENTS: readonly GrowthStatement[] = [
  {
    name: 'Admission',
    prepare: async (_, call) => String(call),
    run: (filled, call) => admitted(filled, Number(call)),
    calls: WRITES,
  },
  {
    name: 'Pick-up',
    prepare: admitted,
    run: ({ em }, id) => pickUpJob(em(), id, 'reader@2026-01-01', new Date()),
    calls: WRITES,
  },
  { name: 'Settlement', prepare: pickedUp, run: settle, calls: WRITES },
  {
    name: 'One job',
    prepare: async ({ jobIds }, call) => jobIds[call % jobIds.length] as string,
    run: ({ em }, id) => findReadableJob(em(), reader, id),
    calls: WRITES,
  },
  jobs('newest', () => ({})),
  jobs('page far back', (now) => ({ starting_after: firstIdAt('job', daysBefore(now, 380)) })),
  jobs('succeeded', () => ({ status: 'succeeded' })),
  jobs('failed', () => ({ status: 'failed' })),
  jobs('in process', () => ({ status: 'processing' })),
  jobs('of a common endpoint', () => ({ endpoint: ENDPOINTS[0] })),
  jobs('of an endpoint of old', () => ({ endpoint: RARE_ENDPOINT })),
  jobs('created long ago', longAgo),
  jobs('for a key of two endpoints', () => ({}), familyReader),
  jobs('for a key of two endpoints of old', () => ({}), rareReader),
  {
    name: 'Jobs, submitted with a key of old',
    run: ({ em }) =>
      findPageOfParts<Job>(
        em(),
        Job,
        'job',
        [true, false].map((livemode) => ({ organizationId: HOT, apiKeyId: RARE_KEY, livemode })),
        { limit },
      ),
    calls: READS,
  },
  events('newest', () => ({})),
  events('of failures', () => ({ type: 'job.failed' })),
  events('created weeks ago', (now) => ({ 'created[lt]': seconds(daysBefore(now, 20)) })),
  events('for a key of two endpoints', () => ({}), familyReader),
  events('for a key of two endpoints of old', () => ({}), rareReader),
  usage(30, 'day'),
  usage(30, 'endpoint'),
  usage(30, 'api_key'),
  usage(92, 'day', 'endpoint'),
  {
    name: 'Statement of the last month',
    run: ({ em, now }) => readStatement(em(), hot, boundsOf(daysBefore(boundsOf(now).start, 1))),
    calls: READS,
  },
  { name: 'Statement of this month', run: ({ em, now }) => readStatement(em(), hot, boundsOf(now)), calls: READS },
  { name: 'Statements of all months', run: ({ em, now }) => readStatements(em(), hot, now), calls: READS },
  { name: 'Balance', run: ({ em }) => readCreditBalances(em(), HOT), calls: READS },
  transfers('newest', HOT, () => ({})),
  transfers('newest of a small account', COLD, () => ({})),
  transfers('top-ups', HOT, () => ({ kind: 'top_up' })),
  transfers('created long ago', HOT, longAgo),
  { name: 'Deliveries, newest', run: (filled) => deliveries(filled, {}), calls: READS },
  { name: 'Deliveries, failed', run: (filled) => deliveries(filled, { status: 'failed' }), calls: READS },
  { name: 'Deliveries, pending', run: (filled) => deliveries(filled, { status: 'pending' }), calls: READS },
  {
    name: 'Sweeper, jobs without a workflow',
    async run({ em }) {
      const found = await claimStrandedJobs(em(), new Date());
      await releaseStrandedJobs(
        em(),
        found.map(({ id }) => id),
      );
    },
    calls: READS,
  },
  {
    name: 'Sweeper, deliveries without a workflow',
    run: ({ em }) =>
      findStrandedDeliveries(em(), { committedBefore: daysBefore(new Date(), 1), now: daysBefore(new Date(), 1) }),
    calls: READS,
  },
  { name: 'Sweeper, months to close', run: ({ em, now }) => closeMonths(em(), now, null), calls: READS },
  { name: 'Sweeper, usage to close', run: ({ em, now }) => closeUsage(em(), now, null), calls: READS },
  {
    name: 'Sweeper, 1,000 expired claims',
    prepare: expiredClaims,
    run: ({ em }) => deleteExpiredIdempotencyClaims(em()),
    calls: BATCHES,
  },
  {
    name: 'Sweeper, 200 expired uploads',
    prepare: expiredUploads,
    run: ({ em }) => deleteExpiredUploads(em()),
    calls: BATCHES,
  },
  {
    name: 'Sweeper, left stage outcomes',
    run: ({ em, now }) => deleteLeftStageOutcomes(em(), now),
    calls: READS,
  },
  {
    name: 'Retention, 500 events with deliveries',
    prepare: oldEvents,
    run: ({ em, now }) => deleteOldEvents(em(), daysBefore(now, 450)),
    calls: BATCHES,
  },
  {
    name: 'Retention, results of 500 jobs looked at',
    run: ({ em, now }) => forgetOldResults(em(), daysBefore(now, 90), ''),
    calls: BATCHES,
  },
  { name: 'Retention, uploads', run: ({ em, now }) => deleteUsedUploads(em(), daysBefore(now, 30)), calls: READS },
  { name: 'Metrics of the backlog', run: ({ em }) => readBacklog(em()), calls: READS },
];
