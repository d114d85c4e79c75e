import type { Logger } from 'pino';
import type { ApiContext, Next } from '../context.ts';

/** One line a request. Headers and bodies stay out of it: they carry keys and pictures. */
export function accessLog(logger: Logger) {
  return async (context: ApiContext, next: Next): Promise<void> => {
    const startedAt = performance.now();
    await next();
    logger.info(
      {
        requestId: context.state.requestId,
        method: context.method,
        path: context.path,
        status: context.status,
        durationMs: Math.round(performance.now() - startedAt),
        organizationId: context.state.apiKey?.organizationId,
      },
      'request',
    );
  };
}
