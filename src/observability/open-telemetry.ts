/** OpenTelemetry traces, sent to a collector over OTLP/HTTP. Loaded only if a collector is configured. */
import { setTimeout as delay } from 'node:timers/promises';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import type { Tracing } from './tracing.ts';

/** The exporter itself would wait for 10 seconds for a collector that does not respond. */
const FLUSH_TIMEOUT_MS = 2_000;

/** The library itself reads OpenTelemetry's own variables for sampling, batching and headers. */
export function startOpenTelemetry(processName: string, endpoint: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  return traceWith(processName, new BatchSpanProcessor(exporter));
}

export function traceWith(processName: string, spanProcessor: SpanProcessor): Tracing {
  const resource = new Resource({
    'service.namespace': 'vehicle-inference',
    'service.name': `vehicle-inference-${processName.replace(':', '-')}`,
  });
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  provider.register();
  const tracer = provider.getTracer('vehicle-inference');

  return {
    temporalPlugins: [new OpenTelemetryPlugin({ resource, spanProcessor })],
    activeTraceId: () => trace.getActiveSpan()?.spanContext().traceId,
    inSpan: (name, attributes, work) =>
      tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL, attributes }, async (span) => {
        try {
          return await work({
            rename: (to) => span.updateName(to),
            set: (more) => span.setAttributes(more),
            fail: (message) => span.setStatus({ code: SpanStatusCode.ERROR, message }),
          });
        } catch (error) {
          // Only the name of the error: its message may quote the request.
          span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' });
          throw error;
        } finally {
          span.end();
        }
      }),
    async stop() {
      // Spans are lost when the collector is out of reach; that must not fail the shutdown.
      const timer = new AbortController();
      const late = delay(FLUSH_TIMEOUT_MS, undefined, { signal: timer.signal });
      await Promise.race([provider.shutdown(), late]).catch(() => {});
      timer.abort();
      late.catch(() => {});
    },
  };
}
