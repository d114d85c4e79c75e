/** Traces by OpenTelemetry, sent to a collector over OTLP/HTTP. Loaded only where a collector is configured. */
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { logTraceId } from './log-context.ts';
import type { Tracing } from './tracing.ts';

/** The variables that OpenTelemetry itself defines for sampling, batching and headers are read by its library. */
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
  logTraceId(() => trace.getActiveSpan()?.spanContext().traceId);

  return {
    temporalPlugins: [new OpenTelemetryPlugin({ resource, spanProcessor })],
    inSpan: (name, attributes, work) =>
      tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL, attributes }, async (span) => {
        try {
          return await work({
            rename: (to) => span.updateName(to),
            set: (more) => span.setAttributes(more),
            fail: (message) => span.setStatus({ code: SpanStatusCode.ERROR, message }),
          });
        } catch (error) {
          // The name of the error alone: its message may quote what was sent.
          span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' });
          throw error;
        } finally {
          span.end();
        }
      }),
    async stop() {
      logTraceId(() => undefined);
      // What a collector out of reach does not take is lost: no reason for a process to end badly.
      await provider.shutdown().catch(() => {});
    },
  };
}
