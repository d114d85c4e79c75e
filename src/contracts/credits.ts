/** Vocabulary of the credit ledger. */

/** Accounts of the ledger. Credits come from `funding` and are spent into `revenue`; `available` and `held` are the balance. */
export type LedgerAccount = 'funding' | 'available' | 'held' | 'revenue';

/** Why credits move. The first three belong to jobs. */
export const TRANSFER_KINDS = ['hold', 'capture', 'release', 'top_up', 'promotion', 'expiry', 'adjustment'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** Largest top-up, grant, adjustment or threshold. Sums of very many stay exact integers. */
export const MAXIMUM_CREDITS = 1_000_000_000;
