/** Counts of jobs and charged credits, by day and other dimensions: sums of closed days, and the jobs since. */
import { JOB_STATUSES, type JobStatus, TERMINAL_JOB_STATUSES } from '../contracts/job.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { firstIdOfRowsAfter, firstIdOfRowsFrom } from '../platform/database/pages.ts';
import { CLOSING_BATCH, type ClosedBatch } from './closing.ts';

export const USAGE_GROUPS = ['day', 'endpoint', 'api_key', 'mode'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  organizationId: string;
  /** First day of admission, in UTC: `2026-11-21`. */
  from: string;
  /** Last day, inclusive. */
  to: string;
  groupBy: readonly UsageGroup[];
  livemode?: boolean | undefined;
  isStaging?: boolean | undefined;
  endpoint?: string | undefined;
  apiKeyId?: string | undefined;
}

/** Dimensions that were not grouped by are null. */
export interface Usage {
  /** In UTC, `2026-11-21`. */
  day: string | null;
  endpoint: string | null;
  apiKeyId: string | null;
  mode: 'live' | 'staging' | 'test' | null;
  jobs: Partial<Record<JobStatus, number>>;
  chargedCredits: number;
  /** The part of them that costs money: without those of test jobs. */
  paidCredits: number;
}

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Jobs admitted in an hour are counted when it has been over for this long: their rows are committed by then. */
const CLOSED_AFTER_MS = 60 * 60_000;
/** Jobs of an unfinished day that usage may read before they are counted. */
const OPEN_JOBS = 500;

const counts = (statuses: readonly JobStatus[]) =>
  statuses.map((status) => `count(*) filter (where status = '${status}') as ${status}`).join(', ');
const closedCounts = JOB_STATUSES.map((status) =>
  TERMINAL_JOB_STATUSES.some((terminal) => terminal === status) ? status : '0',
).join(', ');
const FILTERS = `livemode = any ($7) and ($8::boolean is null or is_staging = $8) and ($9::text is null or endpoint = $9)
  and ($10::text is null or api_key_id = $10)`;

/** Of the organisation $1, from $2 ($4 as a time, its jobs from the id $3) to just before $5 ($6), grouped by $11. */
const USAGE = `
  with lines as (
    select day, endpoint, api_key_id, livemode, is_staging, ${closedCounts}, charged_credits
    from closed_usage_days
    where organization_id = $1 and day >= $2::date and day < $5::date and ${FILTERS}
    union all
    select (created_at at time zone 'UTC')::date, endpoint, api_key_id, livemode, is_staging, ${counts(JOB_STATUSES)},
      sum(charged_credits)
    from jobs
    where organization_id = $1 and id < $6 and created_at < $5::date::timestamp at time zone 'UTC'
      and id >= greatest($3, (select open_from_id from closed_usage where organization_id = $1))
      and created_at >= greatest($4::timestamptz, (select closed_until from closed_usage where organization_id = $1))
      and ${FILTERS}
    group by 1, 2, 3, 4, 5
  ),
  grouped as (
    select
      case when 'day' = any ($11) then day::text end as day,
      case when 'endpoint' = any ($11) then endpoint end as endpoint,
      case when 'api_key' = any ($11) then api_key_id end as api_key_id,
      case when 'mode' = any ($11)
        then case when is_staging then 'staging' when livemode then 'live' else 'test' end
      end as mode,
      livemode, charged_credits, ${JOB_STATUSES.join(', ')}
    from lines as line (day, endpoint, api_key_id, livemode, is_staging, ${JOB_STATUSES.join(', ')}, charged_credits)
  )
  select day, endpoint, api_key_id as "apiKeyId", mode,
    ${JOB_STATUSES.map((status) => `sum(${status})::float8 as ${status}`).join(', ')},
    sum(charged_credits)::float8 as "chargedCredits",
    coalesce(sum(charged_credits) filter (where livemode), 0)::float8 as "paidCredits"
  from grouped group by day, endpoint, api_key_id, mode
  order by day desc, endpoint, api_key_id, mode`;

/** Reads the usage of days. Newest day first. */
export async function readUsage(em: EntityManager, usage: UsageQuery): Promise<Usage[]> {
  const from = new Date(usage.from);
  const end = new Date(Date.parse(usage.to) + DAY_MS);
  const rows = await query<Omit<Usage, 'jobs'> & Record<JobStatus, number>>(em, USAGE, [
    usage.organizationId,
    usage.from,
    firstIdOfRowsFrom('job', from),
    from,
    end.toISOString().slice(0, 10),
    firstIdOfRowsAfter('job', end),
    usage.livemode === undefined ? [true, false] : [usage.livemode],
    usage.isStaging ?? null,
    usage.endpoint ?? null,
    usage.apiKeyId ?? null,
    usage.groupBy,
  ]);
  return rows.map(({ day, endpoint, apiKeyId, mode, chargedCredits, paidCredits, ...jobs }) => ({
    day,
    endpoint,
    apiKeyId,
    mode,
    jobs,
    chargedCredits,
    paidCredits,
  }));
}

/**
 * Counts what the next organisations after `after` have admitted since the last time, where a day is over or it is much: up to an
 * hour ago, or to their oldest job that has not ended, and at most to the end of a month. Concurrent callers take different
 * organisations.
 */
export function closeUsage(em: EntityManager, now: Date, after: string | null): Promise<ClosedBatch<string>> {
  const hour = new Date(Math.floor((now.getTime() - CLOSED_AFTER_MS) / HOUR_MS) * HOUR_MS);
  return em.transactional(async (em) => {
    const organizations = await query<{ id: string }>(
      em,
      `with organization as (
         select id from organizations where id > $1 order by id limit $2
       ), added as (
         insert into closed_usage (organization_id, closed_until, open_from_id)
         select id, '-infinity', '' from organization
         where not exists (select from closed_usage where organization_id = organization.id)
         on conflict do nothing
       )
       select id from organization order by id`,
      [after ?? '', CLOSING_BATCH],
    );
    const ids = organizations.map(({ id }) => id);
    const due = await lockDue(em, hour, ids);
    if (due.length > 0) await countDue(em, hour, due);
    return { closed: due.length, last: ids.at(-1) ?? null };
  });
}

interface OrganizationRow {
  organizationId: string;
}

/** Locks those of the organisations that have something to count, except for what another caller is counting. */
async function lockDue(em: EntityManager, hour: Date, organizations: readonly string[]): Promise<string[]> {
  const day = new Date(Math.floor(hour.getTime() / DAY_MS) * DAY_MS);
  const rows = await query<OrganizationRow>(
    em,
    `select account.organization_id as "organizationId" from ${UNCOUNTED}
       and first_at < ${CLOSES_UNTIL} and (first_at < $3 or jobs > ${OPEN_JOBS})
     order by account.organization_id for update of account skip locked`,
    [hour, organizations, day],
  );
  return rows.map(({ organizationId }) => organizationId);
}

async function countDue(em: EntityManager, hour: Date, due: readonly string[]): Promise<void> {
  // A separate statement, so that it sees what was closed before the locks were acquired.
  const rows = await query<OrganizationRow & { untilMs: number }>(
    em,
    `select account.organization_id as "organizationId", extract(epoch from ${CLOSES_UNTIL})::float8 * 1000 as "untilMs"
     from ${UNCOUNTED} and first_at < ${CLOSES_UNTIL}`,
    [hour, due],
  );
  const closing = rows.map(({ organizationId, untilMs }) => ({ organizationId, until: new Date(untilMs) }));
  await query(em, CLOSE, [
    closing.map(({ organizationId }) => organizationId),
    closing.map(({ until }) => until),
    closing.map(({ until }) => firstIdOfRowsAfter('job', until)),
    closing.map(({ until }) => firstIdOfRowsFrom('job', until)),
  ]);
}

/** The organisations $2 with the first of their jobs that are not counted, and how many these are, a few too many being enough. */
const UNCOUNTED = `closed_usage as account
  left join (
    select organization_id, min(created_at) as since from jobs
    where completed_at is null and organization_id = any ($2) group by organization_id
  ) as waiting on waiting.organization_id = account.organization_id
  cross join lateral (
    select min(created_at) as first_at, count(*) as jobs
    from (values (true), (false)) as mode (livemode)
    cross join lateral (
      select created_at from jobs
      where jobs.organization_id = account.organization_id and jobs.livemode = mode.livemode
        and id >= open_from_id and created_at >= closed_until
      order by id limit ${OPEN_JOBS + 1}
    ) as job
  ) as uncounted
  where account.organization_id = any ($2)`;

const CLOSES_UNTIL = `least($1::timestamptz, date_trunc('hour', waiting.since, 'UTC'),
  (date_trunc('month', first_at at time zone 'UTC') + interval '1 month') at time zone 'UTC')`;

const SUMS = [...TERMINAL_JOB_STATUSES, 'charged_credits'];

/** Of the organisations $1, up to $2, from which on jobs have the ids from $4, and before which none has an id from $3. */
const CLOSE = `
  with closing as (
    select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[])
      as closing (organization_id, closes_until, end_id, next_id)
  ),
  lines as (
    insert into closed_usage_days as known
      (organization_id, day, livemode, is_staging, endpoint, api_key_id, ${SUMS.join(', ')})
    select closing.organization_id, line.*
    from closing
    join closed_usage as account on account.organization_id = closing.organization_id
    -- For each organisation on its own: together they might seem to be worth a scan of all jobs.
    cross join lateral (
      select (created_at at time zone 'UTC')::date, livemode, is_staging, endpoint, api_key_id,
        ${counts(TERMINAL_JOB_STATUSES)}, sum(charged_credits)
      from jobs
      where jobs.organization_id = closing.organization_id and livemode = any ('{t,f}')
        and id >= open_from_id and id < end_id and created_at >= closed_until and created_at < closes_until
      group by 1, 2, 3, 4, 5
    ) as line
    on conflict (organization_id, day, livemode, is_staging, endpoint, api_key_id) do update
      set ${SUMS.map((sum) => `${sum} = known.${sum} + excluded.${sum}`).join(', ')}
  )
  update closed_usage as account set closed_until = closes_until, open_from_id = next_id
  from closing where account.organization_id = closing.organization_id`;

/** SQL: the closed days that their jobs do not add up to. */
export const USAGE_DRIFT = `
  with counted as (
    select organization_id, (created_at at time zone 'UTC')::date as day, livemode, is_staging, endpoint, api_key_id,
      ${counts(TERMINAL_JOB_STATUSES)}, sum(charged_credits) as charged_credits
    from jobs join closed_usage using (organization_id)
    where created_at < closed_until
    group by 1, 2, 3, 4, 5, 6
  )
  select format('usage of %s on %s, %s, %s: closed at %s jobs and %s credits, there are %s and %s', organization_id, day, endpoint,
    api_key_id, ${totalOf('closed')}, closed.charged_credits, ${totalOf('counted')}, counted.charged_credits) as finding
  from closed_usage_days as closed
  full join counted using (organization_id, day, livemode, is_staging, endpoint, api_key_id)
  where (${SUMS.map((sum) => `closed.${sum}`).join(', ')}) is distinct from (${SUMS.map((sum) => `counted.${sum}`).join(', ')})`;

function totalOf(table: string): string {
  return TERMINAL_JOB_STATUSES.map((status) => `${table}.${status}`).join(' + ');
}
