/** Counts of waiting rows in PostgreSQL, for operators. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { firstIdAt } from '../platform/ids.ts';

export interface Backlog {
  openJobs: {
    endpoint: string;
    livemode: boolean;
    status: 'queued' | 'processing';
    jobs: number;
    oldestSeconds: number;
  }[];
  /** Open jobs that should have ended by now. */
  overdueJobs: number;
  /** Jobs and deliveries without a known workflow. */
  unstarted: { kind: 'job' | 'delivery'; rows: number; oldestSeconds: number }[];
  /** Open jobs whose workflow could not be started, to be tried again later; their `start_error` says why. */
  setAsideJobs: number;
  /** Held credits, and the jobs that hold them. */
  holds: { livemode: boolean; jobs: number; credits: number }[];
  pendingDeliveries: { deliveries: number; oldestSeconds: number };
  disabledEndpoints: number;
}

// Each query reads an index of open rows, one row per organisation, or the last days of the primary key. None slows down
// as history grows.
const SECONDS_SINCE = (column: string) => `coalesce(extract(epoch from now() - min(${column})), 0)::float8`;

const OPEN_JOBS = `
  select endpoint, livemode, status, count(*)::integer as jobs, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from jobs where completed_at is null group by endpoint, livemode, status`;
const OVERDUE_JOBS = `select count(*)::integer as jobs from jobs where completed_at is null and due_at < now()`;
const UNSTARTED = `
  select 'job' as kind, count(*)::integer as rows, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from jobs where workflow_started_at is null and completed_at is null
  union all
  select 'delivery', count(*)::integer, ${SECONDS_SINCE('created_at')}
  from webhook_deliveries where workflow_started_at is null and status = 'pending'`;
const SET_ASIDE = `
  select count(*)::integer as jobs from jobs where completed_at is null and start_error is not null`;
const HOLDS = `
  select livemode, sum(open_jobs)::integer as jobs, sum(held)::float8 as credits
  from credit_accounts group by livemode`;
// A delivery takes up to a day; the margin shows deliveries that are overdue.
const PENDING_DELIVERIES = `
  select count(*)::integer as deliveries, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from webhook_deliveries where status = 'pending' and id > $1`;
const DELIVERY_WINDOW_MS = 3 * 24 * 60 * 60_000;
const DISABLED_ENDPOINTS = `select count(*)::integer as endpoints from webhook_endpoints where status = 'disabled'`;

export async function readBacklog(em: EntityManager): Promise<Backlog> {
  // In sequence: a scrape takes one connection of the pool.
  const openJobs = await query<Backlog['openJobs'][number]>(em, OPEN_JOBS);
  const [overdue] = await query<{ jobs: number }>(em, OVERDUE_JOBS);
  const unstarted = await query<Backlog['unstarted'][number]>(em, UNSTARTED);
  const [setAside] = await query<{ jobs: number }>(em, SET_ASIDE);
  const holds = await query<Backlog['holds'][number]>(em, HOLDS);
  const [pending] = await query<Backlog['pendingDeliveries']>(em, PENDING_DELIVERIES, [
    firstIdAt('webhookDelivery', new Date(Date.now() - DELIVERY_WINDOW_MS)),
  ]);
  const [disabled] = await query<{ endpoints: number }>(em, DISABLED_ENDPOINTS);
  return {
    openJobs,
    overdueJobs: overdue?.jobs ?? 0,
    unstarted,
    setAsideJobs: setAside?.jobs ?? 0,
    holds,
    pendingDeliveries: pending ?? { deliveries: 0, oldestSeconds: 0 },
    disabledEndpoints: disabled?.endpoints ?? 0,
  };
}
