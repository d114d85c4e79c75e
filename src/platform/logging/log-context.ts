/** Fields of every line logged during a request or an activity, without passing them along. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface LogFields {
  requestId?: string;
  jobId?: string;
  dispatchId?: string;
  workflowId?: string;
  runId?: string;
  activity?: string;
  attempt?: number;
}

const storage = new AsyncLocalStorage<LogFields>();

export function withLogFields<Result>(fields: LogFields, work: () => Result): Result {
  return storage.run({ ...fields }, work);
}

/** Adds fields to the lines that follow. Outside a request or activity it does nothing. */
export function addLogFields(fields: LogFields): void {
  Object.assign(storage.getStore() ?? {}, fields);
}

/** A new object for each call, because pino writes into it. */
export function currentLogFields(): LogFields {
  return { ...storage.getStore() };
}
