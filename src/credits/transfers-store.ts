/** Pages of the ledger, newest first. */
import type { TransferKind } from '../contracts/credits.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { createdWithin, findPageOfModes, type Page, type PageRequest } from '../platform/database/pages.ts';
import { CreditTransfer } from './entities.ts';

/** The keys `created[…]` are bounds in epoch seconds; cursors are positions in the ledger. */
export type TransferFilter = PageRequest & {
  livemode?: boolean;
  kind?: TransferKind;
  job_id?: string;
} & Readonly<Record<string, unknown>>;

const KINDS_OF_JOBS: readonly TransferKind[] = ['hold', 'capture', 'release'];

export function findTransfers(
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
    ...createdWithin(filter),
  };
  const modes = livemode === undefined ? [true, false] : [livemode];
  return findPageOfModes<CreditTransfer>(em, CreditTransfer, null, where, modes, filter);
}
