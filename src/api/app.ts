/** The Koa application: middleware first, then routes. */
import Koa from 'koa';
import type { ApiContext, ApiState } from './context.ts';
import type { AppDependencies } from './dependencies.ts';
import { accessLog } from './middleware/access-log.ts';
import { errors } from './middleware/errors.ts';
import { noteKeyUse } from './middleware/note-key-use.ts';
import { refuseEncodedBody } from './middleware/refuse-encoded-body.ts';
import { refuseMalformed } from './middleware/refuse-malformed.ts';
import { requestId } from './middleware/request-id.ts';
import { serviceVersion } from './middleware/service-version.ts';
import { createRouter, createUnroutedHandler } from './router.ts';

export const WAIT_CEILING_MS = 30_000;

export function createApp(dependencies: AppDependencies): Koa<ApiState> {
  const { orm, publicBaseUrl, logger, clock = () => new Date(), waitCeilingMs = WAIT_CEILING_MS } = dependencies;
  const routerDependencies = { ...dependencies, clock, waitCeilingMs };
  const router = createRouter(routerDependencies);
  const app = new Koa<ApiState>();
  app.use(requestId);
  app.use(accessLog(logger, dependencies.observability));
  app.use(errors({ publicBaseUrl, logger }));
  app.use(refuseMalformed);
  app.use(serviceVersion);
  app.use(refuseEncodedBody);
  app.use((context, next) => {
    context.state.em = orm.em.fork();
    return next();
  });
  app.use(noteKeyUse(dependencies.keyUse, clock));
  app.use(router.routes());
  app.use(router.allowedMethods());
  app.use(createUnroutedHandler(routerDependencies));
  app.on('error', (error: NodeJS.ErrnoException, context?: ApiContext) => {
    const { code, message } = error;
    // Never log the error itself: it may hold the raw bytes of the connection, which may include a key.
    const fields = { requestId: context?.state.requestId, err: { code, message } };
    logger[hungUp(error) ? 'debug' : 'warn'](fields, 'connection error');
  });
  return app;
}

const HANG_UPS = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Clients may leave at any time: that is no fault of the service. */
function hungUp({ code = '', message }: NodeJS.ErrnoException): boolean {
  return HANG_UPS.includes(code) || message === 'Premature close';
}
