/** Metrics, probes and traces of a process. Opened first and closed last. */
import { createMetrics, type Metrics } from './metrics.ts';
import { type Checks, startMetricsServer } from './metrics-server.ts';
import { startTracing } from './start-tracing.ts';
import type { Tracing } from './tracing.ts';

export interface Observability {
  metrics: Metrics;
  tracing: Tracing;
  /** Adds a readiness check; a process without any check is not ready. */
  readyWhen(name: string, check: Checks[string]): void;
  close(): Promise<void>;
}

interface Settings {
  METRICS_ADDRESS: string;
  OTEL_EXPORTER_OTLP_ENDPOINT: string | null;
}

export async function startObservability(processName: string, settings: Settings): Promise<Observability> {
  const metrics = createMetrics();
  const tracing = await startTracing(processName, settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const checks: Checks = {};
  const server = await startMetricsServer({
    address: settings.METRICS_ADDRESS,
    registry: metrics.registry,
    checks,
  });
  return {
    metrics,
    tracing,
    readyWhen(name, check) {
      checks[name] = check;
    },
    async close() {
      await tracing.stop();
      await server.close();
    },
  };
}
