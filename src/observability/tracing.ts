/** The service's interface to tracing, independent of the exporter. */
import type { ClientPlugin } from '@temporalio/client';
import type { WorkerPlugin } from '@temporalio/worker';

export type SpanAttributes = Record<string, string | number | boolean>;

/** A span in progress. Names and attributes hold ids, routes and codes; never a header, body or query. */
export interface WorkSpan {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed although it does not throw. */
  fail(reason: string): void;
}

export interface Tracing {
  /** For Temporal's clients and workers, which carry the trace into workflows and activities. */
  temporalPlugins: (ClientPlugin & WorkerPlugin)[];
  inSpan<Result>(name: string, attributes: SpanAttributes, work: (span: WorkSpan) => Promise<Result>): Promise<Result>;
  /** The trace of the current work. */
  activeTraceId(): string | undefined;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

const NO_SPAN: WorkSpan = { rename() {}, set() {}, fail() {} };

export const NO_TRACING: Tracing = {
  temporalPlugins: [],
  activeTraceId: () => undefined,
  inSpan: (_name, _attributes, work) => work(NO_SPAN),
  stop: async () => {},
};
