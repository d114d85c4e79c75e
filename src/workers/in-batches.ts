/** Most batches of one pass; the next pass continues. */
const BATCHES_AT_MOST = 200;

/** Takes batches until there are no more, the pass has reached its bound, or the signal aborts. Returns the number of rows. */
export async function inBatches(
  take: () => Promise<{ rows: number; hasMore: boolean }>,
  signal?: AbortSignal,
): Promise<number> {
  let rows = 0;
  for (let batches = 0; batches < BATCHES_AT_MOST && !signal?.aborted; batches += 1) {
    const batch = await take();
    rows += batch.rows;
    if (!batch.hasMore) break;
  }
  return rows;
}
