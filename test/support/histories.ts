/** Histories of workflows as an operator can read them. */
import type { WorkflowHandle } from '@temporalio/client';

/** A whole history as one text, with decoded payloads. */
export async function readableHistory(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string> {
  const { events } = await handle.fetchHistory();
  // Protocol messages serialise themselves to JSON, with payload bytes as base64.
  return JSON.stringify(events, (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
