/** `npm run api`: the HTTP process. */
import { once } from 'node:events';
import { createStripePayments } from '../billing/stripe-payments.ts';
import { readConfig } from '../config/config.ts';
import { answersQueries } from '../db/answers-queries.ts';
import { listenForSettlements } from '../db/jobs/job-settlements.ts';
import { openDatabase } from '../db/orm.ts';
import { createTargetRules, findWebhookUrlProblem } from '../delivery/webhook-target.ts';
import { createDispatchTokens } from '../domain/dispatch-tokens.ts';
import { createSealedSecrets } from '../domain/sealed-secrets.ts';
import { createSignedUrls } from '../domain/signed-urls.ts';
import { endpoints } from '../endpoints/list.ts';
import { createRemoteResultReader } from '../inference/remote/remote-result.ts';
import { createLogger } from '../logging.ts';
import { startOperations } from '../observability/operations.ts';
import { onShutdown } from '../shutdown.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { openTemporalClient } from '../temporal/connect.ts';
import { createApp } from './app.ts';
import { createDrainingServer } from './draining-server.ts';
import { createKeyUse, KEY_USE_FLUSH_INTERVAL_MS } from './key-use.ts';
import { createLicenseSigning } from './license-signing.ts';
import { createProviderKeys } from './management/provider-keys.ts';
import { refuseUnparsed } from './refuse-unparsed.ts';

/** Longer than `wait` holds a connection, so that a deploy cuts nobody off. */
const DRAIN_TIMEOUT_MS = 35_000;

const config = readConfig('api');
const logger = createLogger('api', config.LOG_LEVEL);
const operations = await startOperations('api', config);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const temporal = openTemporalClient({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  plugins: operations.tracing.temporalPlugins,
});
const settlements = listenForSettlements(config.DATABASE_URL, logger);

const keyUse = createKeyUse({ orm, logger, flushIntervalMs: KEY_USE_FLUSH_INTERVAL_MS });

const targetRules = createTargetRules(config.WEBHOOK_ALLOW_PRIVATE_TARGETS);

const app = createApp({
  endpoints,
  orm,
  temporal,
  settlements,
  store: createDiskStore(config.STORAGE_DIRECTORY),
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
  sealedSecrets: createSealedSecrets(config.SECRET_SEALING_KEYS),
  findWebhookUrlProblem: (url) => findWebhookUrlProblem(url, targetRules),
  keyUse,
  licenseSigning: createLicenseSigning(config.LICENSE_SIGNING_KEYS, config.PUBLIC_BASE_URL),
  dispatchTokens: createDispatchTokens(config.URL_SIGNING_KEY),
  readRemoteResult: createRemoteResultReader(endpoints),
  logger,
  operations,
});

const handle = app.callback();
const { server, drain } = createDrainingServer(
  (request, response) => void handle(request, response),
  refuseUnparsed({ publicBaseUrl: config.PUBLIC_BASE_URL, logger }),
);
server.listen(config.API_PORT, config.API_HOST);
await once(server, 'listening');
operations.readyWhen('database', () => answersQueries(orm));
logger.info({ address: server.address() }, 'api ready');

onShutdown(logger, async () => {
  await drain(DRAIN_TIMEOUT_MS);
  await settlements.close();
  await temporal.connection.close();
  await keyUse.close();
  await orm.close();
  await operations.close();
});
