/** Traces, or none: without a collector nothing of OpenTelemetry is loaded, and Temporal is told nothing of it. */
import type { ClientPlugin } from '@temporalio/client';
import type { WorkerPlugin } from '@temporalio/worker';

export type SpanAttributes = Record<string, string | number | boolean>;

/** A span while its work goes on. Names and attributes hold ids, routes and codes; never a header, body or query. */
export interface WorkSpan {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed, although it throws nothing. */
  fail(reason: string): void;
}

export interface Tracing {
  /** For the clients and workers of Temporal: they carry the trace into workflows and activities. */
  temporalPlugins: (ClientPlugin & WorkerPlugin)[];
  inSpan<Result>(name: string, attributes: SpanAttributes, work: (span: WorkSpan) => Promise<Result>): Promise<Result>;
  /** Sends what is not yet sent. */
  stop(): Promise<void>;
}

const NO_SPAN: WorkSpan = { rename() {}, set() {}, fail() {} };

export const NO_TRACING: Tracing = {
  temporalPlugins: [],
  inSpan: (_name, _attributes, work) => work(NO_SPAN),
  stop: async () => {},
};

/** `endpoint` is the collector, null for no traces; `processName` tells the processes apart in it. */
export async function startTracing(processName: string, endpoint: string | null): Promise<Tracing> {
  if (endpoint === null) return NO_TRACING;
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(processName, endpoint);
}
