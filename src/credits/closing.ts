/** The walk over all accounts, a batch at a time, that adds up what statements and usage then need not read again. */

/** Accounts of a batch. */
export const CLOSING_BATCH = 100;

export interface ClosedBatch<Key> {
  /** Accounts of it that were closed further. They may have more to close: call again with the same `after`. */
  closed: number;
  /** The last account of the batch; null when there was none. */
  last: Key | null;
}
