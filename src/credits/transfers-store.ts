/** Pages of the ledger, newest first. */
import type { TransferKind } from '../contracts/credits.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { createdWithin, findPage, type Page, type PageRequest } from '../platform/database/pages.ts';
import { CreditTransfer } from './entities.ts';

/** The keys `created[…]` are bounds in epoch seconds; cursors are positions in the ledger. */
export type TransferFilter = PageRequest & {
  livemode?: boolean;
  kind?: TransferKind;
  job_id?: string;
} & Readonly<Record<string, unknown>>;

export function findTransfers(
  em: EntityManager,
  organizationId: string,
  filter: TransferFilter,
): Promise<Page<CreditTransfer>> {
  const { livemode, kind, job_id: jobId } = filter;
  const where = {
    organizationId,
    livemode: livemode === undefined ? { $in: [true, false] } : livemode,
    ...(kind !== undefined && { kind }),
    ...(jobId !== undefined && { jobId }),
    ...createdWithin(filter),
  };
  return findPage<CreditTransfer>(em, CreditTransfer, null, where, filter);
}
