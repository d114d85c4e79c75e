/** `npm run api`: the HTTP process. */
import { once } from 'node:events';
import { createStripePayments } from '../credits/payments/stripe-payments.ts';
import { openDatabase } from '../database.ts';
import { endpoints } from '../endpoints/list.ts';
import { createRemoteResultReader } from '../inference/remote/remote-result.ts';
import { createDispatchTokens } from '../jobs/dispatch-tokens.ts';
import { createJobFollower } from '../jobs/job-follower.ts';
import { listenForSettlements } from '../jobs/settlement-listener.ts';
import { startObservability } from '../observability/observability.ts';
import { createKeyUse, KEY_USE_FLUSH_INTERVAL_MS } from '../organizations/key-use.ts';
import { readConfig } from '../platform/config/config.ts';
import { answersQueries } from '../platform/database/health.ts';
import { createLogger } from '../platform/logging/logger.ts';
import { createSealedSecrets } from '../platform/sealed-secrets.ts';
import { onShutdown } from '../platform/shutdown.ts';
import { createSignedUrls } from '../platform/signed-urls.ts';
import { openStore } from '../platform/storage/open-store.ts';
import { openTemporalClient } from '../platform/temporal/connect.ts';
import { createLicenseSigning } from '../sdk-licenses/license-signing.ts';
import { createTargetRules, findWebhookUrlProblem } from '../webhooks/webhook-target.ts';
import { createApp } from './app.ts';
import { createDrainingServer } from './draining-server.ts';
import { createJobStreams } from './job-streams.ts';
import { createProviderKeys } from './management/provider-keys.ts';
import { refuseUnparsed } from './refuse-unparsed.ts';

/** Longer than `wait` holds a connection, so that a deploy interrupts no request. */
const DRAIN_TIMEOUT_MS = 35_000;

const config = readConfig('api');
const observability = await startObservability('api', config);
const logger = createLogger('api', config.LOG_LEVEL, observability.tracing);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const store = await openStore(config, {
  onAway: (err) => logger.warn({ err }, 'the bucket is away'),
});
const temporal = openTemporalClient({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  plugins: observability.tracing.temporalPlugins,
});
const settlements = listenForSettlements(config.DATABASE_LISTEN_URL ?? config.DATABASE_URL, logger);
const jobStreams = createJobStreams({
  endpoints,
  orm,
  follower: createJobFollower({ orm, settlements, logger }),
  logger,
});

const keyUse = createKeyUse({ orm, logger, flushIntervalMs: KEY_USE_FLUSH_INTERVAL_MS });

const targetRules = createTargetRules(config.WEBHOOK_ALLOW_PRIVATE_TARGETS);

const app = createApp({
  endpoints,
  orm,
  temporal,
  settlements,
  jobStreams,
  store,
  publicBaseUrl: config.PUBLIC_BASE_URL,
  signedUrls: createSignedUrls(config.PUBLIC_BASE_URL, config.URL_SIGNING_KEY),
  openJobsLimit: config.OPEN_JOBS_LIMIT,
  creditsPerUsd: config.CREDITS_PER_USD,
  payments: config.STRIPE_SECRET_KEY
    ? createStripePayments({ secretKey: config.STRIPE_SECRET_KEY, webhookSecret: config.STRIPE_WEBHOOK_SECRET })
    : null,
  identityProvider: config.MANAGEMENT_JWT_ISSUER
    ? {
        issuer: config.MANAGEMENT_JWT_ISSUER,
        audience: config.MANAGEMENT_JWT_AUDIENCE,
        keys: createProviderKeys(config.MANAGEMENT_JWKS_URL),
      }
    : null,
  console: config.CONSOLE_CLIENT_ID
    ? {
        clientId: config.CONSOLE_CLIENT_ID,
        authorizationUrl: config.CONSOLE_AUTHORIZATION_URL,
        tokenUrl: config.CONSOLE_TOKEN_URL,
        temporalUrl: config.CONSOLE_TEMPORAL_URL,
        temporalNamespace: config.TEMPORAL_NAMESPACE,
        pictureOrigins: pictureOriginsOf(config),
      }
    : null,
  pictureOrigins: pictureOriginsOf(config),
  sealedSecrets: createSealedSecrets(config.SECRET_SEALING_KEYS),
  findWebhookUrlProblem: (url) => findWebhookUrlProblem(url, targetRules),
  keyUse,
  licenseSigning: createLicenseSigning(config.LICENSE_SIGNING_KEYS, config.PUBLIC_BASE_URL),
  dispatchTokens: createDispatchTokens(config.URL_SIGNING_KEY),
  readRemoteResult: createRemoteResultReader(endpoints),
  logger,
  observability,
});

/** Where the links in results lead: to this service, and with signed links on to the bucket. */
function pictureOriginsOf(settings: typeof config): string[] {
  const { STORAGE, STORAGE_ARTEFACT_LINKS, STORAGE_PUBLIC_ENDPOINT, STORAGE_ENDPOINT, PUBLIC_BASE_URL } = settings;
  const api = new URL(PUBLIC_BASE_URL).origin;
  if (!STORAGE.includes('bucket') || STORAGE_ARTEFACT_LINKS !== 'signed') return [api];
  const bucket = STORAGE_PUBLIC_ENDPOINT ?? STORAGE_ENDPOINT;
  return [api, bucket === null ? 'https://*.amazonaws.com' : new URL(bucket).origin];
}

const handle = app.callback();
const { server, drain } = createDrainingServer(
  (request, response) => void handle(request, response),
  refuseUnparsed({ publicBaseUrl: config.PUBLIC_BASE_URL, logger }),
);
server.listen(config.API_PORT, config.API_HOST);
await once(server, 'listening');
observability.readyWhen('database', () => answersQueries(orm));
logger.info({ address: server.address() }, 'api ready');

onShutdown(logger, {
  drain: () => {
    jobStreams.close();
    return drain(DRAIN_TIMEOUT_MS);
  },
  // The drain itself cuts off what runs longer.
  drainTimeoutMs: DRAIN_TIMEOUT_MS + 1_000,
  async close() {
    await settlements.close();
    await temporal.connection.close();
    await keyUse.close();
    await orm.close();
    await observability.close();
  },
});
