/** What a process shows of itself: metrics, probes and traces. Opened first and closed last. */
import { createMetrics, type Metrics } from './metrics.ts';
import { type Checks, startOperationsServer } from './operations-server.ts';
import { startTracing, type Tracing } from './tracing.ts';

export interface Operations {
  metrics: Metrics;
  tracing: Tracing;
  /** Makes readiness depend on one more thing; a process that has named nothing yet is not ready. */
  readyWhen(name: string, check: Checks[string]): void;
  close(): Promise<void>;
}

interface Settings {
  METRICS_ADDRESS: string;
  OTEL_EXPORTER_OTLP_ENDPOINT: string | null;
}

export async function startOperations(processName: string, settings: Settings): Promise<Operations> {
  const metrics = createMetrics();
  const tracing = await startTracing(processName, settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const checks: Checks = {};
  const server = await startOperationsServer({
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
