/** Starts tracing. Without a collector no part of OpenTelemetry is loaded, and Temporal gets no plugin. */
import { NO_TRACING, type Tracing } from './tracing.ts';

/** `endpoint` is the collector, null for no traces; `processName` distinguishes the processes there. */
export async function startTracing(processName: string, endpoint: string | null): Promise<Tracing> {
  if (endpoint === null) return NO_TRACING;
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(processName, endpoint);
}
