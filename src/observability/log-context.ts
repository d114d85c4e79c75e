/** What every line logged in the course of a request or an activity carries, without being passed along. */
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
let traceIdOf: () => string | undefined = () => undefined;

export function withLogFields<Result>(fields: LogFields, work: () => Result): Result {
  return storage.run({ ...fields }, work);
}

/** Adds what was learnt on the way to the lines that follow. Outside a request or activity it does nothing. */
export function addLogFields(fields: LogFields): void {
  Object.assign(storage.getStore() ?? {}, fields);
}

/** A fresh object on each call: pino writes into it. */
export function currentLogFields(): LogFields & { traceId?: string } {
  const traceId = traceIdOf();
  return { ...storage.getStore(), ...(traceId !== undefined && { traceId }) };
}

/** Lets lines name the trace they belong to. */
export function logTraceId(read: () => string | undefined): void {
  traceIdOf = read;
}
