/** Counts of jobs and charged credits, by day and other dimensions. */
import type { JobStatus } from '../contracts/job.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { firstIdOfRowsAfter, firstIdOfRowsFrom } from '../platform/database/pages.ts';

export const USAGE_GROUPS = ['day', 'endpoint', 'api_key', 'mode'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  organizationId: string;
  /** Admission time, inclusive. */
  from: Date;
  /** Admission time, exclusive. */
  to: Date;
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

/** Counts the jobs of a period in one pass over an index whose ids sort by time. Newest day first. */
export async function readUsage(em: EntityManager, usage: UsageQuery): Promise<Usage[]> {
  const rows = await query<
    Omit<Usage, 'chargedCredits' | 'paidCredits'> & { chargedCredits: string; paidCredits: string }
  >(
    em,
    `with counted as (
       select
         case when 'day' = any ($6) then (created_at at time zone 'UTC')::date::text end as day,
         case when 'endpoint' = any ($6) then endpoint end as endpoint,
         case when 'api_key' = any ($6) then api_key_id end as api_key_id,
         case when 'mode' = any ($6)
           then case when is_staging then 'staging' when livemode then 'live' else 'test' end
         end as mode,
         status, count(*) as jobs, sum(charged_credits) as charged,
         coalesce(sum(charged_credits) filter (where livemode), 0) as paid
       from jobs
       where organization_id = $1 and livemode = any ($7) and id >= $2 and id < $3
         and created_at >= $4 and created_at < $5
         and ($8::boolean is null or is_staging = $8) and ($9::text is null or endpoint = $9)
         and ($10::text is null or api_key_id = $10)
       group by 1, 2, 3, 4, 5
     )
     select day, endpoint, api_key_id as "apiKeyId", mode, json_object_agg(status, jobs) as jobs,
       sum(charged) as "chargedCredits", sum(paid) as "paidCredits"
     from counted group by day, endpoint, api_key_id, mode
     order by day desc, endpoint, api_key_id, mode`,
    [
      usage.organizationId,
      firstIdOfRowsFrom('job', usage.from),
      firstIdOfRowsAfter('job', usage.to),
      usage.from,
      usage.to,
      usage.groupBy,
      usage.livemode === undefined ? [true, false] : [usage.livemode],
      usage.isStaging ?? null,
      usage.endpoint ?? null,
      usage.apiKeyId ?? null,
    ],
  );
  return rows.map((row) => ({
    ...row,
    chargedCredits: Number(row.chargedCredits),
    paidCredits: Number(row.paidCredits),
  }));
}
