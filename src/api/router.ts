/** Every route of the service, grouped by surface. */
import Router from '@koa/router';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { endpointPath } from '../endpoints/shared/endpoint-path.ts';
import { createKnownCallers } from '../organizations/known-callers.ts';
import { answersQueries } from '../platform/database/health.ts';
import type { ApiContext, ApiState } from './context.ts';
import type { AppDependencies } from './dependencies.ts';
import { addInternalRoutes } from './internal/router.ts';
import { authenticateMember } from './management/authenticate-member.ts';
import { operations } from './management/operations.ts';
import { addManagementRoutes } from './management/router.ts';
import { type Access, authenticate, authenticateOnAdmission } from './middleware/authenticate.ts';
import { createManagementRateLimit } from './middleware/rate-limit.ts';
import { buildOpenApi } from './openapi/document.ts';
import type { OpenApi } from './pages/reference-pages.ts';
import { createSite } from './pages/site.ts';
import { createStaticFile, sendStaticFile } from './pages/static-file.ts';
import { createPreflightRoute, forAnyOrigin } from './routes/any-origin.ts';
import { ARTEFACT_PAGES, createArtefactRoute } from './routes/artefacts.ts';
import { createConsoleRoutes } from './routes/console.ts';
import { createDocumentRoutes, getRoot } from './routes/documents.ts';
import { createEndpointsRoute } from './routes/endpoints.ts';
import { createGetEventRoute, createListEventsRoute } from './routes/events.ts';
import { createInferenceRoute } from './routes/inference.ts';
import { createJobFileRoute } from './routes/job-files.ts';
import { createJobStreamRoute } from './routes/job-stream.ts';
import { createCancelJobRoute, createGetJobRoute, createListJobsRoute } from './routes/jobs.ts';
import { createJwksRoute } from './routes/jwks.ts';
import { getKeyIdentity } from './routes/key-identity.ts';
import { addSdkLicenseRoutes } from './routes/sdk-licenses.ts';
import { createStripeWebhookRoute } from './routes/stripe-webhook.ts';
import { createUnroutedRoute } from './routes/unrouted.ts';
import { createUploadContentRoute, UPLOAD_PAGES } from './routes/upload-content.ts';
import { createGetUploadRoute, createUploadRoute } from './routes/uploads.ts';
import { createViewerRoutes, VIEWER_PAGES } from './routes/viewer.ts';

const READS = { name: 'reads', livePerMinute: 3_000 };
const UPLOADS = { name: 'uploads', livePerMinute: 600 };
const MANAGEMENT_PER_MINUTE = 600;

const limitManagement = createManagementRateLimit(MANAGEMENT_PER_MINUTE);

export type RouterDependencies = AppDependencies & { clock: () => Date; waitCeilingMs: number };

type WithKey = (access: Access) => ReturnType<typeof authenticate>;

export function createRouter(dependencies: RouterDependencies): Router<ApiState> {
  // Strict: rate limits, idempotency claims and logs go by the path, so each path has one spelling.
  const router = new Router<ApiState>({ sensitive: true, strict: true });
  const withKey: WithKey = (access) => authenticate(dependencies.clock, access);
  addInferenceRoutes(router, dependencies);
  addJobRoutes(router, dependencies, withKey);
  addFileRoutes(router, dependencies, withKey);
  addCallerRoutes(router, dependencies, withKey);
  addManagementRoutes(router, {
    ...dependencies,
    operations,
    services: dependencies,
    rateLimit: limitManagement,
  });
  router.post('/billing/stripe/webhook', createStripeWebhookRoute(dependencies));
  addInternalRoutes(router, dependencies);
  addDocumentationRoutes(router, dependencies);
  addConsoleRoutes(router, dependencies);
  addViewerRoutes(router, dependencies);
  addHealthRoutes(router, dependencies);
  return router;
}

/** Counts requests that match no route, by API key or by member. */
export function createUnroutedHandler({ identityProvider, clock }: RouterDependencies) {
  return createUnroutedRoute({
    countByKey: authenticate(clock, { scope: null, rate: READS }),
    async countByMember(context) {
      const member = await authenticateMember(context.get('Authorization'), identityProvider, clock());
      await limitManagement(context, member.organizationId);
    },
  });
}

/** `POST /v1/<endpoint>`: one route for each endpoint and each alias. */
function addInferenceRoutes(router: Router<ApiState>, dependencies: RouterDependencies): void {
  const knownCallers = createKnownCallers();
  for (const endpoint of dependencies.endpoints) {
    router.post(
      pathsOf(endpoint),
      authenticateOnAdmission(
        dependencies.clock,
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
}

const pathsOf = ({ slug, aliases = [] }: EndpointContract) => [slug, ...aliases].map(endpointPath);

/** Jobs and their events. */
function addJobRoutes(router: Router<ApiState>, dependencies: RouterDependencies, withKey: WithKey): void {
  const { endpoints, clock } = dependencies;
  const readsJobs = withKey({ scope: 'jobs:read', rate: READS });
  router.get('/v1/jobs', readsJobs, createListJobsRoute(endpoints));
  router.get('/v1/jobs/:id', readsJobs, createGetJobRoute(endpoints));
  router.get('/v1/jobs/:id/events', readsJobs, createJobStreamRoute(dependencies));
  router.post('/v1/jobs/:id/cancel', readsJobs, createCancelJobRoute(endpoints, dependencies));
  router.get('/v1/events', readsJobs, createListEventsRoute(endpoints, clock));
  router.get('/v1/events/:id', readsJobs, createGetEventRoute(endpoints));
}

/** Uploads and artefacts. Their content travels through signed links, without a key. */
function addFileRoutes(router: Router<ApiState>, dependencies: RouterDependencies, withKey: WithKey): void {
  const { store, signedUrls, clock } = dependencies;
  const uploads = { store, signedUrls, clock };
  router.post('/v1/uploads', withKey({ scope: 'storage:write', rate: UPLOADS }), createUploadRoute(uploads));
  router.get('/v1/uploads/:id', withKey({ scope: 'storage:read', rate: READS }), createGetUploadRoute(uploads));
  router.put('/v1/uploads/:id/content', forAnyOrigin(UPLOAD_PAGES), createUploadContentRoute(uploads));
  router.options('/v1/uploads/:id/content', createPreflightRoute(UPLOAD_PAGES));
  router.get('/v1/artefacts/:name', forAnyOrigin(ARTEFACT_PAGES), createArtefactRoute(dependencies));
  router.options('/v1/artefacts/:name', createPreflightRoute(ARTEFACT_PAGES));
  router.get('/job-files/:id/:index', createJobFileRoute({ store, signedUrls, clock }));
}

/** The calling key, the endpoints it can call, and SDK licences. */
function addCallerRoutes(router: Router<ApiState>, dependencies: RouterDependencies, withKey: WithKey): void {
  const anyKey = withKey({ scope: null, rate: READS });
  router.get('/v1/api-keys/self', anyKey, getKeyIdentity);
  router.get('/v1/endpoints', anyKey, createEndpointsRoute(dependencies.endpoints));
  addSdkLicenseRoutes(router, { ...dependencies, withKey, reads: READS });
  router.get('/.well-known/jwks.json', createJwksRoute(dependencies.licenseSigning));
}

function addDocumentationRoutes(router: Router<ApiState>, dependencies: RouterDependencies): void {
  const { endpoints, publicBaseUrl, clock } = dependencies;
  const hasConsole = Boolean(dependencies.console);
  const openApi = buildOpenApi(endpoints, publicBaseUrl);
  const document = createStaticFile('application/json; charset=utf-8', JSON.stringify(openApi));
  router.get('/openapi.json', (context: ApiContext) => sendStaticFile(context, document));
  const site = createSite({ endpoints, openApi: openApi as unknown as OpenApi, publicBaseUrl, hasConsole });
  const { page, models, search, asset, picture, program } = createDocumentRoutes(site, endpoints, clock);
  router.get('/', getRoot);
  router.get('/docs/assets/:name', asset);
  router.get('/docs/pictures/:slug/:name', picture);
  router.get('/docs/examples/:name', program);
  router.get('/docs/models', models);
  router.get('/docs/search', search);
  router.get(['/docs', '/docs/', '/docs/*path'], page);
}

function addConsoleRoutes(router: Router<ApiState>, { console }: RouterDependencies): void {
  const { page, asset } = createConsoleRoutes(console ?? null);
  router.get('/console/assets/:name', asset);
  // Of any depth: the page's script reads the path.
  router.get(['/console', '/console/', '/console/*path'], page);
}

function addViewerRoutes(router: Router<ApiState>, { publicBaseUrl, pictureOrigins }: RouterDependencies): void {
  const { page, script, asset } = createViewerRoutes(pictureOrigins ?? [new URL(publicBaseUrl).origin]);
  router.get('/viewer/vehicle-viewer.js', forAnyOrigin(VIEWER_PAGES), script);
  router.get('/viewer/assets/:name', asset);
  router.get(['/viewer', '/viewer/'], page);
}

function addHealthRoutes(router: Router<ApiState>, { orm }: RouterDependencies): void {
  router.get('/health/live', (context: ApiContext) => {
    context.body = { status: 'ok' };
  });
  router.get('/health/ready', async (context: ApiContext) => {
    await answersQueries(orm);
    context.body = { status: 'ok' };
  });
}
