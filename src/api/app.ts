/** The Koa application: middleware first, then routes. */
import Koa from 'koa';
import type { ApiState } from './context.ts';
import type { AppDependencies } from './dependencies.ts';
import { accessLog } from './middleware/access-log.ts';
import { errors } from './middleware/errors.ts';
import { noteKeyUse } from './middleware/note-key-use.ts';
import { refuseEncodedBody } from './middleware/refuse-encoded-body.ts';
import { refuseNul } from './middleware/refuse-nul.ts';
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
  app.use(refuseNul);
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
  app.on('error', (err: unknown) => logger.warn({ err }, 'connection error'));
  return app;
}
