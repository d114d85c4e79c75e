import type { ObjectStore } from './object-store.ts';

interface PageOptions {
  /** Objects written at this time or later are left out. */
  writtenBefore: Date;
  pageSize: number;
  /** Ends the pages. */
  signal?: AbortSignal | undefined;
}

/**
 * The keys of a listing in pages, so that a store of any size takes the memory of one page. What a listing gave before it
 * failed comes before its failure.
 */
export async function* pagesOfKeys(
  objects: ReturnType<ObjectStore['list']>,
  { writtenBefore, pageSize, signal }: PageOptions,
): AsyncGenerator<string[]> {
  let page: string[] = [];
  const failures: unknown[] = [];
  try {
    for await (const { key, modifiedAt } of objects) {
      if (signal?.aborted) return;
      if (modifiedAt >= writtenBefore) continue;
      page.push(key);
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
  } catch (error) {
    failures.push(error);
  }
  if (page.length > 0 && !signal?.aborted) yield page;
  if (failures.length > 0) throw failures[0];
}
