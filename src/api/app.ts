import Router from '@koa/router';
import type { Client } from '@temporalio/client';
import Koa from 'koa';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobSettlements } from '../db/job-settlements.ts';
import { type MikroORM, query } from '../db/orm.ts';
import { endpointPath } from '../domain/endpoint-path.ts';
import type { SignedUrls } from '../domain/signed-urls.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ApiContext, ApiState } from './context.ts';
import { accessLog } from './middleware/access-log.ts';
import { authenticate, requireScope } from './middleware/authenticate.ts';
import { errors } from './middleware/errors.ts';
import { createRateLimits } from './middleware/rate-limit.ts';
import { refuseNul } from './middleware/refuse-nul.ts';
import { requestId } from './middleware/request-id.ts';
import { serviceVersion } from './middleware/service-version.ts';
import { buildOpenApi } from './openapi/document.ts';
import { createArtefactRoute } from './routes/artefacts.ts';
import { createEndpointsRoute } from './routes/endpoints.ts';
import { createErrorPageRoute } from './routes/error-pages.ts';
import { createListEventsRoute, getEvent } from './routes/events.ts';
import { createInferenceRoute } from './routes/inference.ts';
import { createJobStreamRoute } from './routes/job-stream.ts';
import { createCancelJobRoute, createListJobsRoute, getJob } from './routes/jobs.ts';
import { getReference, getReferenceAsset } from './routes/reference.ts';
import { createUploadContentRoute } from './routes/upload-content.ts';
import { createGetUploadRoute, createUploadRoute } from './routes/uploads.ts';

export interface AppDependencies {
  endpoints: readonly EndpointContract[];
  orm: MikroORM;
  /** For the rate limiter, whose statements must not wait behind those of requests. */
  rateLimitPool: Pool;
  temporal: Client;
  settlements: JobSettlements;
  store: ObjectStore;
  publicBaseUrl: string;
  signedUrls: SignedUrls;
  openJobsLimit: number;
  logger: Logger;
  clock?: () => Date;
  waitCeilingMs?: number;
}

export const WAIT_CEILING_MS = 30_000;
const READS_PER_MINUTE = 3_000;
const UPLOADS_PER_MINUTE = 600;

export function createApp(dependencies: AppDependencies): Koa<ApiState> {
  const { orm, publicBaseUrl, logger, clock = () => new Date(), waitCeilingMs = WAIT_CEILING_MS } = dependencies;
  const app = new Koa<ApiState>();
  app.use(requestId);
  app.use(accessLog(logger));
  app.use(errors({ publicBaseUrl, logger }));
  app.use(refuseNul);
  app.use(serviceVersion);
  app.use((context, next) => {
    context.state.em = orm.em.fork();
    return next();
  });
  const router = createRouter({ ...dependencies, clock, waitCeilingMs });
  app.use(router.routes());
  app.use(router.allowedMethods());
  app.on('error', (err: unknown) => logger.warn({ err }, 'connection error'));
  return app;
}

function createRouter(dependencies: AppDependencies & { clock: () => Date; waitCeilingMs: number }): Router<ApiState> {
  const { endpoints, rateLimitPool, store, signedUrls, clock, publicBaseUrl } = dependencies;
  const uploads = { store, signedUrls, clock };
  const router = new Router<ApiState>();
  const rateLimit = createRateLimits(rateLimitPool);
  const withKey = authenticate(clock);
  const reads = rateLimit('reads', READS_PER_MINUTE);

  for (const endpoint of endpoints) {
    router.post(
      [endpoint.slug, ...(endpoint.aliases ?? [])].map(endpointPath),
      withKey,
      requireScope(`${endpoint.family}:write`),
      rateLimit(endpoint.slug, endpoint.rateLimitPerMinute),
      createInferenceRoute(endpoint, dependencies),
    );
  }
  const readsJobs = [withKey, requireScope('jobs:read'), reads] as const;
  router.get('/v1/jobs', ...readsJobs, createListJobsRoute(endpoints));
  router.get('/v1/jobs/:id', ...readsJobs, getJob);
  router.get('/v1/jobs/:id/events', ...readsJobs, createJobStreamRoute(dependencies));
  router.post('/v1/jobs/:id/cancel', ...readsJobs, createCancelJobRoute(endpoints, dependencies));
  router.get('/v1/events', ...readsJobs, createListEventsRoute(clock));
  router.get('/v1/events/:id', ...readsJobs, getEvent);
  router.post(
    '/v1/uploads',
    withKey,
    requireScope('storage:write'),
    rateLimit('uploads', UPLOADS_PER_MINUTE),
    createUploadRoute(uploads),
  );
  router.get('/v1/uploads/:id', withKey, requireScope('storage:read'), reads, createGetUploadRoute(uploads));
  router.put('/v1/uploads/:id/content', createUploadContentRoute(uploads));
  router.get('/v1/artefacts/:name', createArtefactRoute(dependencies));
  router.get('/v1/endpoints', withKey, reads, createEndpointsRoute(endpoints));

  const openApi = buildOpenApi(endpoints, publicBaseUrl);
  router.get('/openapi.json', (context: ApiContext) => {
    context.body = openApi;
  });
  router.get('/docs', getReference);
  router.get('/docs/assets/:name', getReferenceAsset);
  router.get('/docs/errors/:code', createErrorPageRoute());
  router.get('/health/live', (context: ApiContext) => {
    context.body = { status: 'ok' };
  });
  router.get('/health/ready', async (context: ApiContext) => {
    await query(context.state.em, 'select 1');
    context.body = { status: 'ok' };
  });
  return router;
}
