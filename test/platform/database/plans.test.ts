/** By which indexes PostgreSQL finds what the service asks for most, in a database that has grown. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fill, HOT } from '../../../bench/growth/fill.ts';
import { type Filled, STATEMENTS } from '../../../bench/growth/statements.ts';
import { openDatabase } from '../../../src/database.ts';
import type { MikroORM } from '../../../src/platform/database/orm.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { installEndpoints } from '../../support/jobs.ts';
import { explainAll, watchPlans } from '../../support/plans.ts';

/** From the sixth call on PostgreSQL may plan for parameters that it does not know. */
const CALLS = 6;

/**
 * Sorted: the sums, and the jobs that are not counted yet. With so few jobs those of all organisations may be as cheap to read as
 * those of one.
 */
const USAGE = ['jobs_by_organization', 'jobs_pkey'].map(
  (jobs) => `sorted | closed_usage_days_pkey | closed_usage_pkey | closed_usage_pkey | sorted | ${jobs}`,
);

/** Sorted: the page, and the pages of the parts where they are short. Each part is in order in its index. */
const EVENTS_OF_PARTS = ['sorted | sorted', 'sorted'].map(
  (sorted) => `${sorted} | events_by_endpoint | events_by_endpoint | events_by_endpoint | events_pkey`,
);

/**
 * The plans that each statement may have: the indexes in the order of the plan, with `sorted` for a sort of all that comes below it,
 * and those of the statements within procedures. `all of` a table would be a scan of the table.
 */
const PLANS: Readonly<Record<string, readonly string[]>> = {
  Admission: [
    'api_keys_pkey',
    'api_keys_secret_hash_key',
    'credit_accounts_pkey',
    'installed_endpoints_pkey',
    'jobs_pkey',
    'organizations_pkey',
  ],
  'Pick-up': ['inference_outcomes_pkey | jobs_pkey'],
  Settlement: [
    'credit_accounts_pkey',
    'events_pkey',
    'inference_outcomes_pkey',
    'jobs_pkey',
    'jobs_pkey | inference_outcomes_pkey | webhook_endpoints_listening',
    'organizations_pkey',
    'webhook_endpoints_pkey',
  ],
  'One job': ['jobs_pkey'],
  'Jobs, newest': ['jobs_by_organization'],
  'Jobs, page far back': ['jobs_by_organization'],
  'Jobs, succeeded': ['jobs_by_organization'],
  'Jobs, failed': ['jobs_unsuccessful'],
  // The open jobs of all organisations.
  'Jobs, in process': ['sorted | jobs_due'],
  'Jobs, of a common endpoint': ['jobs_by_endpoint'],
  'Jobs, of an endpoint of old': ['jobs_by_endpoint'],
  'Jobs, created long ago': ['jobs_by_organization'],
  // Sorted: the page, and the pages of the parts of which it is made where they are short. Each part is in order in its index.
  'Jobs, for a key of two endpoints': ['sorted | jobs_by_endpoint | jobs_by_endpoint | jobs_pkey'],
  'Jobs, for a key of two endpoints of old': ['sorted | sorted | jobs_by_endpoint | jobs_by_endpoint | jobs_pkey'],
  'Jobs, submitted with a key of old': ['sorted | sorted | jobs_by_key | jobs_by_organization | jobs_pkey'],
  'Events, newest': ['events_by_organization'],
  'Events, of failures': ['events_unsuccessful'],
  'Events, created weeks ago': ['events_by_organization'],
  // With those of no endpoint.
  'Events, for a key of two endpoints': EVENTS_OF_PARTS,
  'Events, for a key of two endpoints of old': EVENTS_OF_PARTS,
  'Usage of 30 days by day': USAGE,
  'Usage of 30 days by endpoint': USAGE,
  'Usage of 30 days by api_key': USAGE,
  'Usage of 92 days by day and endpoint': USAGE,
  // Sorted: the sums, and what is not summed yet.
  'Statement of the last month': [
    'sorted | closed_month_lines_organization_id_livemode_month_kind_endp_key | sorted | closed_accounts_pkey | credit_transfers_by_account | jobs_pkey',
  ],
  'Statement of this month': [
    'sorted | closed_month_lines_organization_id_livemode_month_kind_endp_key | sorted | closed_accounts_pkey | credit_transfers_by_account | jobs_pkey',
  ],
  'Statements of all months': [
    'sorted | closed_month_lines_organization_id_livemode_month_kind_endp_key | sorted | closed_accounts_pkey | credit_transfers_by_account | jobs_pkey',
  ],
  Balance: ['credit_accounts_pkey | credit_transfers_without_job | credit_grants_due'],
  // Sorted, here too: the page of both modes.
  'Ledger, newest': ['sorted | credit_transfers_by_account | credit_transfers_by_account | credit_transfers_pkey'],
  'Ledger, newest of a small account': [
    'sorted | credit_transfers_by_account | credit_transfers_by_account | credit_transfers_pkey',
  ],
  'Ledger, top-ups': ['sorted | credit_transfers_without_job | credit_transfers_without_job | credit_transfers_pkey'],
  // The bounds by bisection, and the page.
  'Ledger, created long ago': [
    'credit_transfers_pkey | credit_transfers_pkey | credit_transfers_pkey',
    'sorted | sorted | credit_transfers_by_account | credit_transfers_by_account | credit_transfers_pkey',
  ],
  'Deliveries, newest': ['events_pkey', 'webhook_attempts_pkey', 'webhook_deliveries_by_endpoint'],
  'Deliveries, failed': ['events_pkey', 'webhook_attempts_pkey', 'webhook_deliveries_failed'],
  // The pending deliveries of all endpoints.
  'Deliveries, pending': ['events_pkey', 'sorted | webhook_deliveries_due', 'webhook_attempts_pkey'],
  'Sweeper, jobs without a workflow': ['jobs_due', 'sorted | jobs_due | jobs_pkey', 'jobs_unstarted'],
  // Sorted: two batches.
  'Sweeper, deliveries without a workflow': [
    'sorted | webhook_deliveries_unstarted | webhook_deliveries_due | events_pkey | webhook_attempts_pkey',
  ],
  // Sorted: the batch of accounts, and what it booked since the last time.
  'Sweeper, months to close': [
    'sorted | closed_accounts_pkey | credit_transfers_by_account',
    'closed_accounts_pkey | credit_transfers_by_account | sorted | credit_transfers_by_account | jobs_pkey | closed_accounts_pkey | credit_transfers_by_account',
    'credit_accounts_pkey | closed_accounts_pkey',
  ],
  // For each organisation of the batch the first of what is not counted, and all open jobs once; then what the batch admitted.
  'Sweeper, usage to close': [
    'organizations_pkey | closed_usage_pkey',
    'closed_usage_pkey | jobs_by_organization | sorted | jobs_due',
    'closed_usage_pkey | jobs_by_organization | jobs_due',
    'closed_usage_pkey | jobs_by_organization | closed_usage_pkey',
  ],
  'Sweeper, 1,000 expired claims': ['idempotency_claims_expiring'],
  'Sweeper, 200 expired uploads': ['uploads_expiring | uploads_pkey'],
  // In the order of the jobs' ids.
  'Sweeper, left stage outcomes': ['stage_outcomes_pkey | jobs_pkey | stage_outcomes_pkey'],
  'Retention, 500 events with deliveries': [
    'events_pkey',
    'events_pkey | webhook_deliveries_due | webhook_deliveries_by_event | events_pkey',
    'webhook_attempts_pkey',
    'webhook_deliveries_by_event',
    'events_pkey | webhook_deliveries_by_event | webhook_deliveries_by_event | events_pkey',
  ],
  // Sorted: the batch.
  'Retention, results of 500 jobs looked at': [
    'jobs_pkey | jobs_pkey | sorted',
    'jobs_pkey | sorted | jobs_pkey | sorted',
  ],
  'Retention, uploads': ['uploads_expiring | jobs_due', 'uploads_pkey'],
  // One row for each account and each webhook endpoint.
  'Metrics of the backlog': [
    'all of credit_accounts',
    'all of webhook_endpoints',
    'jobs_due',
    'jobs_unstarted | webhook_deliveries_unstarted',
    'webhook_deliveries_due',
    'jobs_unstarted | webhook_deliveries_due',
  ],
};

let database: TestDatabase;
let orm: MikroORM;
let filled: Filled;
let isRunning = false;
const seen = new Set<string>();

beforeAll(async () => {
  database = await createTestDatabase();
  const now = new Date();
  const { signal } = new AbortController();
  const organizations = await fill(database.url, { jobs: 20_000, organizations: 1_000, hotEvery: 200, now, signal });
  await explainAll(database.url);
  orm = await openDatabase({ url: database.url, poolSize: 1 });
  await watchPlans(orm, (scans) => {
    if (isRunning && scans.length > 0) seen.add(scans.join(' | '));
  });
  await installEndpoints(orm);
  const jobs = await query<{ id: string }>(orm.em.fork(), 'select id from jobs where organization_id = $1 limit 10', [
    HOT,
  ]);
  filled = { em: () => orm.em.fork(), organizations, jobIds: jobs.map(({ id }) => id), now };
}, 120_000);
afterAll(async () => {
  await orm.close();
  await database.drop();
});

it.each(STATEMENTS)('a statement has only its expected plans: $name', async ({ name, prepare, run }) => {
  seen.clear();
  for (let call = 0; call < CALLS; call += 1) {
    const input = (await prepare?.(filled, call)) ?? '';
    isRunning = true;
    await run(filled, input);
    isRunning = false;
  }
  expect(seen.size).toBeGreaterThan(0);
  expect([...seen].filter((plan) => !PLANS[name]?.includes(plan))).toEqual([]);
});
