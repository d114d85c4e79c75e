/** `npm run api`: the HTTP process. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import pg from 'pg';
import { readConfig } from '../config/config.ts';
import { listenForSettlements } from '../db/job-settlements.ts';
import { openDatabase } from '../db/orm.ts';
import { createSignedUrls } from '../domain/signed-urls.ts';
import { endpoints } from '../endpoints/list.ts';
import { createLogger } from '../logging.ts';
import { onShutdown } from '../shutdown.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { openTemporalClient } from '../temporal/connect.ts';
import { createApp } from './app.ts';

const RATE_LIMIT_CONNECTIONS = 2;
/** Longer than `wait` holds a connection, so that a deploy cuts nobody off. */
const DRAIN_TIMEOUT_MS = 35_000;

const config = readConfig('api');
const logger = createLogger('api', config.LOG_LEVEL);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const rateLimitPool = new pg.Pool({ connectionString: config.DATABASE_URL, max: RATE_LIMIT_CONNECTIONS });
rateLimitPool.on('error', (err) => logger.warn({ err }, 'rate limit connection lost'));
const temporal = openTemporalClient({ address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE });
const settlements = listenForSettlements(config.DATABASE_URL, logger);

const app = createApp({
  endpoints,
  orm,
  rateLimitPool,
  temporal,
  settlements,
  store: createDiskStore(config.STORAGE_DIRECTORY),
  publicBaseUrl: config.PUBLIC_BASE_URL,
  signedUrls: createSignedUrls(config.PUBLIC_BASE_URL, config.URL_SIGNING_KEY),
  openJobsLimit: config.OPEN_JOBS_LIMIT,
  logger,
});

const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(config.API_PORT, config.API_HOST);
await once(server, 'listening');
logger.info({ address: server.address() }, 'api ready');

onShutdown(logger, async () => {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await closed;
  clearTimeout(cutOff);
  await settlements.close();
  await rateLimitPool.end();
  await temporal.connection.close();
  await orm.close();
});
