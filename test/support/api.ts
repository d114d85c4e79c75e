/** Runs the app of `src/api/app.ts` in this process, with its own database and Temporal namespace. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { createApp } from '../../src/api/app.ts';
import type { AppDependencies } from '../../src/api/dependencies.ts';
import { createDrainingServer } from '../../src/api/draining-server.ts';
import { createJobStreams, type JobStreams, type StreamLimits } from '../../src/api/job-streams.ts';
import { refuseUnparsed } from '../../src/api/refuse-unparsed.ts';
import type { ErrorCode, ErrorType } from '../../src/contracts/error-codes.ts';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createRemoteResultReader } from '../../src/inference/remote/remote-result.ts';
import { createDispatchTokens } from '../../src/jobs/dispatch-tokens.ts';
import { createJobFollower } from '../../src/jobs/job-follower.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { listenForSettlements } from '../../src/jobs/settlement-listener.ts';
import { createKeyUse, type KeyUse } from '../../src/organizations/key-use.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import type { SealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { createSignedUrls, type SignedUrls } from '../../src/platform/signed-urls.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { createLicenseSigning } from '../../src/sdk-licenses/license-signing.ts';
import { createTargetRules, findWebhookUrlProblem } from '../../src/webhooks/webhook-target.ts';
import { createTestDatabase } from './database.ts';
import { createTestIdentity, type TestIdentity } from './identity.ts';
import { type LogRecord, recordLog } from './log-record.ts';
import { createOpenApiCheck } from './openapi-check.ts';
import { testSealedSecrets } from './sealed-secrets.ts';
import { openTestStorage } from './storage.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';

export const PUBLIC_BASE_URL = 'https://api.example';
export const SIGNING_KEY = 'signing key of the tests';

export interface ErrorBody {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param?: string;
  doc_url: string;
  request_id: string;
}

export class Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;

  constructor(status: number, headers: Headers, text: string) {
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  get json(): Record<string, unknown> {
    return JSON.parse(this.text);
  }

  get job(): JobResource {
    return JSON.parse(this.text);
  }

  get error(): ErrorBody {
    return JSON.parse(this.text).error;
  }
}

export interface CallOptions {
  method?: string;
  key?: string;
  headers?: Record<string, string>;
  body?: RequestInit['body'];
  signal?: AbortSignal;
}

export interface TestApi {
  url: string;
  databaseUrl: string;
  orm: MikroORM;
  store: ObjectStore;
  signedUrls: SignedUrls;
  sealedSecrets: SealedSecrets;
  identity: TestIdentity;
  keyUse: KeyUse;
  jobStreams: JobStreams;
  temporal: TestNamespace & { client: Client };
  log: LogRecord;
  /** Sends a request, and fails if the response is not as documented. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Paths of everything in the store, half-written objects included. */
  storedFiles(): Promise<string[]>;
  close(): Promise<void>;
}

export type TestApiOptions = {
  /** Derives the app's PostgreSQL address from that of the database. */
  connectTo?: (databaseUrl: string) => Promise<string>;
  streamLimits?: Partial<StreamLimits>;
  /** Signed links lead to this API instead of `PUBLIC_BASE_URL`, for clients in processes of their own. */
  hasOwnLinks?: boolean;
} & Partial<
  Pick<
    AppDependencies,
    | 'endpoints'
    | 'findWebhookUrlProblem'
    | 'licenseSigning'
    | 'openJobsLimit'
    | 'payments'
    | 'waitCeilingMs'
    | 'clock'
    | 'console'
    | 'temporal'
    | 'store'
    | 'orm'
  >
>;

/** Call it in `beforeAll`, and `close` in `afterAll`. No worker runs: jobs stay queued unless a test starts some. */
export async function startTestApi({
  connectTo,
  streamLimits,
  hasOwnLinks = false,
  ...options
}: TestApiOptions = {}): Promise<TestApi> {
  const [database, namespace, storage] = await Promise.all([
    createTestDatabase(),
    createTestNamespace(),
    openTestStorage(),
  ]);
  const databaseUrl = (await connectTo?.(database.url)) ?? database.url;
  const orm = await openDatabase({ url: databaseUrl, poolSize: 10 });
  const log = recordLog();
  const client = openTemporalClient(namespace);
  const settlements = listenForSettlements(databaseUrl, log.logger);
  const jobStreams = createJobStreams({
    endpoints: options.endpoints ?? endpoints,
    orm,
    follower: createJobFollower({ orm, settlements, logger: log.logger }),
    logger: log.logger,
    ...(streamLimits && { limits: streamLimits }),
    ...(options.clock && { clock: options.clock }),
  });
  const { store, storedFiles } = storage;
  const port = hasOwnLinks ? await findFreePort() : 0;
  const publicBaseUrl = hasOwnLinks ? `http://127.0.0.1:${port}` : PUBLIC_BASE_URL;
  const signedUrls = createSignedUrls(publicBaseUrl, SIGNING_KEY);
  const identity = await createTestIdentity(options.clock);
  const sealedSecrets = testSealedSecrets;
  const keyUse = createKeyUse({ orm, logger: log.logger });
  const app = createApp({
    endpoints,
    orm,
    temporal: client,
    settlements,
    jobStreams,
    store,
    publicBaseUrl,
    signedUrls,
    openJobsLimit: 1_000,
    // A machine that is busy with other tests takes longer than a customer waits.
    waitCeilingMs: 150_000,
    creditsPerUsd: 1_000,
    payments: null,
    identityProvider: identity.provider,
    sealedSecrets,
    findWebhookUrlProblem: (url) => findWebhookUrlProblem(url, createTargetRules(true)),
    keyUse,
    licenseSigning: createLicenseSigning([], publicBaseUrl),
    dispatchTokens: createDispatchTokens(SIGNING_KEY),
    readRemoteResult: createRemoteResultReader(options.endpoints ?? endpoints),
    logger: log.logger,
    ...options,
  });
  const handle = app.callback();
  const { server } = createDrainingServer(
    (request, response) => void handle(request, response),
    refuseUnparsed({ publicBaseUrl, logger: log.logger }),
  );
  // A client could send a request on a connection just as the server ends it.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const check = createOpenApiCheck(options.endpoints ?? endpoints);

  return {
    url,
    databaseUrl: database.url,
    orm,
    store,
    signedUrls,
    sealedSecrets,
    identity,
    keyUse,
    jobStreams,
    temporal: { ...namespace, client },
    log,
    async call(path, { method = 'GET', key, headers, body, signal } = {}) {
      const response = await fetch(url + path, {
        method,
        // A redirect is an answer of the service; what lies behind it is not.
        redirect: 'manual',
        headers: { ...(key !== undefined && { Authorization: `Bearer ${key}` }), ...headers },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      const answer = new Answer(response.status, response.headers, await response.text());
      const contentType = response.headers.get('Content-Type') ?? '';
      const problem = check({
        method,
        path: path.replace(/\?.*/, ''),
        status: answer.status,
        contentType,
        text: answer.text,
      });
      if (problem !== null) throw new Error(problem);
      return answer;
    },
    storedFiles,
    async close() {
      jobStreams.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await settlements.close();
      await client.connection.close();
      await orm.close();
      await database.drop();
      await storage.close();
    },
  };
}
