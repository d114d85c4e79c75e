/** Histories of workflows, as an operator could read them. */
import type { WorkflowHandle } from '@temporalio/client';

/** All of a history as one text, its payloads decoded. */
export async function readableHistory(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string> {
  const { events } = await handle.fetchHistory();
  // A message of the protocol turns into JSON by itself, and the bytes of a payload then into base64.
  return JSON.stringify(events, (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
