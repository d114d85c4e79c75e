/** Most batches of one pass; the next pass continues. */
const BATCHES_AT_MOST = 200;

export interface Batch {
  rows: number;
  /** Whether there may be more. */
  hasMore: boolean;
}

/** Takes batches until there are no more, the pass has reached its bound, or the signal aborts. Returns what they took together. */
export async function inBatches(take: () => Promise<Batch>, signal?: AbortSignal): Promise<Batch> {
  let rows = 0;
  for (let batches = 0; batches < BATCHES_AT_MOST && !signal?.aborted; batches += 1) {
    const batch = await take();
    rows += batch.rows;
    if (!batch.hasMore) return { rows, hasMore: false };
  }
  return { rows, hasMore: true };
}
