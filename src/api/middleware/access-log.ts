import type { Logger } from 'pino';
import type { Observability } from '../../observability/observability.ts';
import { NO_TRACING, type WorkSpan } from '../../observability/tracing.ts';
import { addLogFields, withLogFields } from '../../platform/logging/log-context.ts';
import type { ApiContext, Next } from '../context.ts';
import { pathOf } from '../request-path.ts';

/**
 * Writes one log line, one span and one metric observation per request. Headers, bodies and queries stay out of all three:
 * they carry keys, signatures and images.
 */
export function accessLog(logger: Logger, observability?: Pick<Observability, 'metrics' | 'tracing'>) {
  const { metrics, tracing = NO_TRACING } = observability ?? {};

  return (context: ApiContext, next: Next): Promise<void> => {
    const { requestId } = context.state;
    const attributes = { 'http.request.method': context.method, 'request.id': requestId };
    return withLogFields({ requestId }, () =>
      tracing.inSpan(context.method, attributes, async (span) => {
        const startedAt = performance.now();
        await next();
        const durationMs = Math.round(performance.now() - startedAt);
        const { admitted, errorCode, apiKey, member } = context.state;
        const route = routeOf(context);
        if (admitted) addLogFields({ jobId: admitted.id });
        logger.info(
          {
            requestId,
            method: context.method,
            path: pathOf(context),
            status: context.status,
            durationMs,
            organizationId: (apiKey ?? member)?.organizationId,
            jobId: admitted?.id,
            code: errorCode,
          },
          'request',
        );
        metrics?.requestEnded({ method: context.method, route, status: context.status, durationMs });
        if (errorCode !== undefined) metrics?.requestRefused(errorCode);
        if (admitted) metrics?.jobAdmitted(admitted);
        describe(span, context, route);
      }),
    );
  };
}

/** The path template, such as `/v1/jobs/:id`: raw paths have unbounded cardinality. */
function routeOf({ _matchedRoute: route }: ApiContext & { _matchedRoute?: string | RegExp }): string {
  return route === undefined ? 'unmatched' : String(route);
}

function describe(span: WorkSpan, { method, status, state }: ApiContext, route: string): void {
  span.rename(`${method} ${route}`);
  span.set({ 'http.route': route, 'http.response.status_code': status });
  if (state.admitted) span.set({ 'job.id': state.admitted.id, 'job.endpoint': state.admitted.endpoint });
  if (status >= 500) span.fail(state.errorCode ?? `HTTP ${status}`);
}
