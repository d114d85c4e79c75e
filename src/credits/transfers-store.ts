/** Pages of the ledger, newest first. */
import type { TransferKind } from '../contracts/credits.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { createdWithin, findPageOfParts, type Page, type PageRequest } from '../platform/database/pages.ts';
import { CreditTransfer } from './entities.ts';

/** The keys `created[…]` are bounds in epoch seconds; cursors are positions in the ledger. */
export type TransferFilter = PageRequest & {
  livemode?: boolean;
  kind?: TransferKind;
  job_id?: string;
} & Readonly<Record<string, unknown>>;

const KINDS_OF_JOBS: readonly TransferKind[] = ['hold', 'capture', 'release'];
/** A transfer has the time at which its transaction began, and is numbered when it is booked: longer than any transaction takes. */
const BOOKED_WITHIN_MS = 60 * 60_000;

export async function findTransfers(
  em: EntityManager,
  organizationId: string,
  filter: TransferFilter,
): Promise<Page<CreditTransfer>> {
  const { livemode, kind, job_id: jobId } = filter;
  const where = {
    organizationId,
    ...(kind !== undefined && { kind }),
    // The few others have an index of their own.
    ...(kind !== undefined && !KINDS_OF_JOBS.includes(kind) && { jobId: null }),
    ...(jobId !== undefined && { jobId }),
    ...(await bookedWithin(em, filter)),
  };
  const modes = livemode === undefined ? [true, false] : [livemode];
  const parts = modes.map((livemode) => ({ ...where, livemode }));
  return findPageOfParts<CreditTransfer>(em, CreditTransfer, null, parts, filter);
}

/** The bounds of `created[…]`, and those of the numbers that such transfers may have: a list reads in the order of numbers. */
async function bookedWithin(em: EntityManager, filter: TransferFilter) {
  const { createdAt } = createdWithin(filter);
  if (!createdAt) return {};
  const { $gte: from, $lt: until } = createdAt;
  return {
    createdAt,
    id: {
      ...(from && { $gte: await findFirstSince(em, new Date(from.getTime() - BOOKED_WITHIN_MS)) }),
      ...(until && { $lt: await findFirstSince(em, new Date(until.getTime() + BOOKED_WITHIN_MS)) }),
    },
  };
}

/**
 * The number of a transfer from a time on before which there is none much later, by bisection: an index by time would cost each
 * hold and each capture.
 */
async function findFirstSince(em: EntityManager, time: Date): Promise<string> {
  const [found] = await query<{ id: string }>(
    em,
    `with recursive search (low, high) as (
       select coalesce(min(id), 0), coalesce(max(id) + 1, 0) from credit_transfers
       union all
       select case when is_before then middle + 1 else low end, case when is_before then high else middle end
       from search
       cross join lateral (select (low + high) / 2 as middle) as half
       cross join lateral (
         select created_at < $1 as is_before from credit_transfers where id >= middle order by id limit 1
       ) as probe
       where low < high
     )
     select low as id from search where low >= high`,
    [time],
  );
  if (!found) throw new Error('a bisection ends');
  return found.id;
}
