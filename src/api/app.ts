import Router from '@koa/router';
import type { Client } from '@temporalio/client';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { PaymentProvider } from '../billing/payment-provider.ts';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobSettlements } from '../db/jobs/job-settlements.ts';
import { type MikroORM, query } from '../db/orm.ts';
import type { DispatchTokens } from '../domain/dispatch-tokens.ts';
import { endpointPath } from '../domain/endpoint-path.ts';
import type { SealedSecrets } from '../domain/sealed-secrets.ts';
import type { SignedUrls } from '../domain/signed-urls.ts';
import type { Operations } from '../observability/operations.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ApiContext, ApiState } from './context.ts';
import type { CallbackDependencies } from './internal/callbacks.ts';
import { addInternalRoutes } from './internal/router.ts';
import type { KeyUse } from './key-use.ts';
import { createKnownCallers } from './known-callers.ts';
import type { LicenseSigning } from './license-signing.ts';
import { authenticateMember, type IdentityProvider } from './management/authenticate-member.ts';
import { operations } from './management/operations.ts';
import { addManagementRoutes } from './management/router.ts';
import { accessLog } from './middleware/access-log.ts';
import { type Access, authenticate, authenticateOnAdmission } from './middleware/authenticate.ts';
import { errors } from './middleware/errors.ts';
import { noteKeyUse } from './middleware/note-key-use.ts';
import { createManagementRateLimit } from './middleware/rate-limit.ts';
import { refuseEncodedBody } from './middleware/refuse-encoded-body.ts';
import { refuseNul } from './middleware/refuse-nul.ts';
import { requestId } from './middleware/request-id.ts';
import { serviceVersion } from './middleware/service-version.ts';
import { buildOpenApi } from './openapi/document.ts';
import { createPreflightRoute, forAnyOrigin } from './routes/any-origin.ts';
import { ARTEFACT_PAGES, createArtefactRoute } from './routes/artefacts.ts';
import { getErrorIndex, getErrorPage, getExample, getGuide, getRoot } from './routes/documents.ts';
import { createEndpointsRoute } from './routes/endpoints.ts';
import { createListEventsRoute, getEvent } from './routes/events.ts';
import { createInferenceRoute } from './routes/inference.ts';
import { createJobStreamRoute } from './routes/job-stream.ts';
import { createCancelJobRoute, createListJobsRoute, getJob } from './routes/jobs.ts';
import { createJwksRoute } from './routes/jwks.ts';
import { getKeyIdentity } from './routes/key-identity.ts';
import { getReference, getReferenceAsset } from './routes/reference.ts';
import { addSdkLicenseRoutes } from './routes/sdk-licenses.ts';
import { createStripeWebhookRoute } from './routes/stripe-webhook.ts';
import { createUnroutedRoute } from './routes/unrouted.ts';
import { createUploadContentRoute, UPLOAD_PAGES } from './routes/upload-content.ts';
import { createGetUploadRoute, createUploadRoute } from './routes/uploads.ts';

export interface AppDependencies {
  endpoints: readonly EndpointContract[];
  orm: MikroORM;
  temporal: Client;
  settlements: JobSettlements;
  store: ObjectStore;
  publicBaseUrl: string;
  signedUrls: SignedUrls;
  openJobsLimit: number;
  creditsPerUsd: number;
  /** Null: live credits cannot be bought. */
  payments: PaymentProvider | null;
  /** Null: nobody can manage an organisation here. */
  identityProvider: IdentityProvider | null;
  sealedSecrets: SealedSecrets;
  findWebhookUrlProblem(url: string): Promise<string | null>;
  keyUse: KeyUse;
  licenseSigning: LicenseSigning;
  dispatchTokens: DispatchTokens;
  readRemoteResult: CallbackDependencies['readRemoteResult'];
  logger: Logger;
  /** Left out, requests are neither counted nor traced. */
  operations?: Pick<Operations, 'metrics' | 'tracing'>;
  clock?: () => Date;
  waitCeilingMs?: number;
}

export const WAIT_CEILING_MS = 30_000;
const READS = { name: 'reads', livePerMinute: 3_000 };
const UPLOADS_PER_MINUTE = 600;
const MANAGEMENT_PER_MINUTE = 600;
const managementRate = createManagementRateLimit(MANAGEMENT_PER_MINUTE);

export function createApp(dependencies: AppDependencies): Koa<ApiState> {
  const { orm, publicBaseUrl, logger, clock = () => new Date(), waitCeilingMs = WAIT_CEILING_MS } = dependencies;
  const app = new Koa<ApiState>();
  app.use(requestId);
  app.use(accessLog(logger, dependencies.operations));
  app.use(errors({ publicBaseUrl, logger }));
  app.use(refuseNul);
  app.use(serviceVersion);
  app.use(refuseEncodedBody);
  app.use((context, next) => {
    context.state.em = orm.em.fork();
    return next();
  });
  app.use(noteKeyUse(dependencies.keyUse, clock));
  const router = createRouter({ ...dependencies, clock, waitCeilingMs });
  app.use(router.routes());
  app.use(router.allowedMethods());
  app.use(createUnrouted(dependencies, clock));
  app.on('error', (err: unknown) => logger.warn({ err }, 'connection error'));
  return app;
}

function createUnrouted({ identityProvider }: AppDependencies, clock: () => Date) {
  return createUnroutedRoute({
    countByKey: authenticate(clock, { scope: null, rate: READS }),
    async countByMember(context) {
      const member = await authenticateMember(context.get('Authorization'), identityProvider, clock());
      await managementRate(context, member.organizationId);
    },
  });
}

function createRouter(dependencies: AppDependencies & { clock: () => Date; waitCeilingMs: number }): Router<ApiState> {
  const { endpoints, store, signedUrls, clock, publicBaseUrl } = dependencies;
  const uploads = { store, signedUrls, clock };
  // Another spelling of a path would be another thing to what goes by paths: limits, claims, logs.
  const router = new Router<ApiState>({ sensitive: true, strict: true });
  const withKey = (access: Access) => authenticate(clock, access);
  const knownCallers = createKnownCallers();

  for (const endpoint of endpoints) {
    router.post(
      [endpoint.slug, ...(endpoint.aliases ?? [])].map(endpointPath),
      authenticateOnAdmission(
        clock,
        {
          scope: `${endpoint.family}:write`,
          rate: { name: endpoint.slug, livePerMinute: endpoint.rateLimitPerMinute },
          endpoint: endpoint.slug,
        },
        knownCallers,
      ),
      createInferenceRoute(endpoint, dependencies),
    );
  }
  const readsJobs = [withKey({ scope: 'jobs:read', rate: READS })] as const;
  router.get('/v1/jobs', ...readsJobs, createListJobsRoute(endpoints));
  router.get('/v1/jobs/:id', ...readsJobs, getJob);
  router.get('/v1/jobs/:id/events', ...readsJobs, createJobStreamRoute(dependencies));
  router.post('/v1/jobs/:id/cancel', ...readsJobs, createCancelJobRoute(endpoints, dependencies));
  router.get('/v1/events', ...readsJobs, createListEventsRoute(clock));
  router.get('/v1/events/:id', ...readsJobs, getEvent);
  router.post(
    '/v1/uploads',
    withKey({ scope: 'storage:write', rate: { name: 'uploads', livePerMinute: UPLOADS_PER_MINUTE } }),
    createUploadRoute(uploads),
  );
  router.get('/v1/uploads/:id', withKey({ scope: 'storage:read', rate: READS }), createGetUploadRoute(uploads));
  router.put('/v1/uploads/:id/content', forAnyOrigin(UPLOAD_PAGES), createUploadContentRoute(uploads));
  router.options('/v1/uploads/:id/content', createPreflightRoute(UPLOAD_PAGES));
  router.get('/v1/artefacts/:name', forAnyOrigin(ARTEFACT_PAGES), createArtefactRoute(dependencies));
  router.options('/v1/artefacts/:name', createPreflightRoute(ARTEFACT_PAGES));
  router.get('/v1/api-keys/self', withKey({ scope: null, rate: READS }), getKeyIdentity);
  addSdkLicenseRoutes(router, { ...dependencies, withKey, reads: READS });
  router.get('/.well-known/jwks.json', createJwksRoute(dependencies.licenseSigning));
  router.get('/v1/endpoints', withKey({ scope: null, rate: READS }), createEndpointsRoute(endpoints));

  addManagementRoutes(router, {
    ...dependencies,
    operations,
    services: dependencies,
    rateLimit: managementRate,
  });

  router.post('/billing/stripe/webhook', createStripeWebhookRoute(dependencies));
  addInternalRoutes(router, dependencies);

  const openApi = buildOpenApi(endpoints, publicBaseUrl);
  router.get('/openapi.json', (context: ApiContext) => {
    context.body = openApi;
  });
  router.get('/', getRoot);
  router.get('/docs', getReference);
  router.get('/docs/assets/:name', getReferenceAsset);
  router.get('/docs/errors', getErrorIndex);
  router.get('/docs/errors/:code', getErrorPage);
  router.get('/docs/examples/:name', getExample);
  router.get('/docs/:guide', getGuide);
  router.get('/health/live', (context: ApiContext) => {
    context.body = { status: 'ok' };
  });
  router.get('/health/ready', async (context: ApiContext) => {
    await query(context.state.em, 'select 1');
    context.body = { status: 'ok' };
  });
  return router;
}
