/** What every part of the service means by the ledger of credits. */

/** Where credits can be. They come from `funding` and are spent into `revenue`; a balance is the two between. */
export type LedgerAccount = 'funding' | 'available' | 'held' | 'revenue';

/** Why credits move: the first three are of jobs. */
export const TRANSFER_KINDS = ['hold', 'capture', 'release', 'top_up', 'promotion', 'expiry', 'adjustment'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** Largest amount of one top-up, grant or adjustment, and largest threshold: sums of very many stay exact. */
export const MAXIMUM_CREDITS = 1_000_000_000;
