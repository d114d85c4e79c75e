/** Several of every process of the service behind a load balancer, and behind PgBouncer if there is one. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { createDevelopmentWebhookEndpoint, type DevelopmentSeed, seedDevelopment } from '../../src/embedded/seed.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../src/embedded/webhook-receiver.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { preparePgBouncer } from '../../test/support/pgbouncer.ts';
import { startTcpBalancer } from '../../test/support/tcp-balancer.ts';
import { startStoppableProcess } from '../processes.ts';
import { type BenchContext, startBenchPostgres, startBenchTemporal, startProductionTemporal } from '../servers.ts';

/** Processes of each kind. */
export const COUNTS = { API: 2, orchestration: 2, inference: 2, webhooks: 2 } as const;
const ENTRIES = {
  API: 'src/api/main.ts',
  orchestration: 'bench/processes/soak-orchestration-worker.ts',
  inference: 'bench/processes/soak-inference-worker.ts',
  webhooks: 'src/workers/webhooks.ts',
} as const;
type Kind = keyof typeof COUNTS;

export interface SoakStack {
  apiUrl: string;
  seed: DevelopmentSeed;
  webhookEndpointIds: readonly string[];
  receiver: WebhookReceiver;
  /** Straight to PostgreSQL. */
  orm: MikroORM;
  temporal: Client;
  storage: string;
  /** Of each process of the service, and of the servers, by name. */
  pids: Readonly<Record<string, number>>;
  /** Where each process of the service tells of itself, by name. */
  metricsUrls: Readonly<Record<string, string>>;
  /** Signs in a member of the seeded organisation, for five minutes. */
  memberToken(): Promise<string>;
  /** What runs beside the service, in words. */
  servers: string;
}

export async function startSoakStack(
  context: BenchContext,
  { pgBouncer, isTemporalServer }: { pgBouncer: string | undefined; isTemporalServer: boolean },
): Promise<SoakStack> {
  const { directory, cleanup, record, signal } = context;
  const postgres = await startBenchPostgres(context);
  const databaseUrl = await postgres.createDatabase('service');
  const temporalServer = await (isTemporalServer ? startProductionTemporal : startBenchTemporal)(context);
  const pooler = pgBouncer === undefined ? null : await preparePgBouncer(pgBouncer, { databaseUrl, directory, record });
  const poolerProgram = await pooler?.start();
  if (poolerProgram) cleanup.add(() => poolerProgram.stop());
  const receiver = await startWebhookReceiver();
  cleanup.add(() => receiver.close());
  const seed = await seedDevelopment(databaseUrl);
  const { organizationId } = seed;
  const webhookEndpointIds: string[] = [];
  for (const livemode of [true, false]) {
    const sealedSecrets = createSealedSecrets(['development']);
    const endpoint = { organizationId, url: receiver.url, livemode, sealedSecrets };
    webhookEndpointIds.push((await createDevelopmentWebhookEndpoint(databaseUrl, endpoint)).id);
  }
  const identity = await startIdentityProvider(context, organizationId);
  const orm = await openDatabase({ url: databaseUrl, poolSize: 2, statementTimeoutMs: null });
  cleanup.add(() => orm.close());

  const apiPorts = await Promise.all(Array.from({ length: COUNTS.API }, () => findFreePort()));
  const balancer = await startTcpBalancer(apiPorts);
  cleanup.add(() => balancer.close());
  const apiUrl = `http://127.0.0.1:${balancer.port}`;
  const storage = join(directory, 'storage');
  mkdirSync(storage);
  const pooledUrl = new URL(databaseUrl);
  if (pooler) pooledUrl.port = String(pooler.port);
  const pids: Record<string, number> = {};
  const metricsUrls: Record<string, string> = {};
  const start = async (kind: Kind, index: number) => {
    const name = `${kind} ${index + 1}`;
    const metricsAddress = `127.0.0.1:${await findFreePort()}`;
    const program = await startStoppableProcess(context, {
      name,
      entry: ENTRIES[kind],
      readyMessage: kind === 'API' ? 'api ready' : 'worker ready',
      environment: {
        SERVICE_ENVIRONMENT: 'development',
        DATABASE_URL: pooledUrl.href,
        ...(pooler && { DATABASE_LISTEN_URL: databaseUrl }),
        TEMPORAL_ADDRESS: temporalServer.address,
        TEMPORAL_NAMESPACE: 'default',
        STORAGE_DIRECTORY: storage,
        PUBLIC_BASE_URL: apiUrl,
        API_HOST: '127.0.0.1',
        API_PORT: String(apiPorts[index] ?? 0),
        METRICS_ADDRESS: metricsAddress,
        WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
        MANAGEMENT_JWT_ISSUER: identity.issuer,
        MANAGEMENT_JWKS_URL: `${identity.issuer}/keys`,
      },
    });
    pids[name] = program.pid;
    metricsUrls[name] = `http://${metricsAddress}/metrics`;
  };
  for (const [kind, count] of Object.entries(COUNTS) as [Kind, number][]) {
    for (let index = 0; index < count; index += 1) {
      signal.throwIfAborted();
      await start(kind, index);
    }
  }
  const connection = await Connection.connect({ address: temporalServer.address });
  cleanup.add(() => connection.close());
  return {
    apiUrl,
    seed,
    webhookEndpointIds,
    receiver,
    orm,
    temporal: new Client({ connection }),
    storage,
    pids: {
      ...pids,
      ...(poolerProgram && { PgBouncer: poolerProgram.pid }),
      PostgreSQL: postgres.pid,
      ...temporalServer.pids,
    },
    metricsUrls,
    memberToken: identity.memberToken,
    servers:
      `PostgreSQL ${postgres.version} (fsync on)${pooler ? ' behind PgBouncer in transaction mode' : ''}, ` +
      (isTemporalServer ? "Temporal's server as in production" : "Temporal's development server"),
  };
}

/** Serves the public key of tokens that this process signs. */
async function startIdentityProvider({ cleanup }: BenchContext, organizationId: string) {
  const algorithm = 'ES256';
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'soak', alg: algorithm }] });
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json').end(keys);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.add(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const userId = newId('user');
  return {
    issuer,
    memberToken: () =>
      new SignJWT({ org_id: organizationId, role: 'owner' })
        .setProtectedHeader({ alg: algorithm, kid: 'soak' })
        .setIssuer(issuer)
        .setAudience('vehicle-inference-service')
        .setSubject(userId)
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey),
  };
}
