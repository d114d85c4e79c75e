/**
 * Walks the OpenAPI document: every operation of both surfaces gives every response that it documents, and the test API
 * checks each against its schema. The tests of the resources prove what the responses mean.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import { operations as managementOperations } from '../../src/api/management/operations.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { endpoints as list } from '../../src/endpoints/list.ts';
import { Event, Job } from '../../src/jobs/entities.ts';
import { renderEvent } from '../../src/jobs/job-event.ts';
import { renderJob } from '../../src/jobs/job-resource.ts';
import { mayDo, ROLES } from '../../src/organizations/roles.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { type ObjectStore, StoreUnavailableError } from '../../src/platform/storage/object-store.ts';
import { createLicenseSigning } from '../../src/sdk-licenses/license-signing.ts';
import { setPaidPeriod } from '../../src/sdk-licenses/sdk-subscriptions-store.ts';
import { WebhookDelivery } from '../../src/webhooks/entities.ts';
import { type Answer, PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey, createWebhookEndpoint } from '../support/customers.ts';
import { admit } from '../support/jobs.ts';
import { newLicenseKey } from '../support/license-keys.ts';
import { jpeg, png } from '../support/pictures.ts';
import { read, upload } from '../support/requests.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startTestWorkers, type TestWorkers, workflowBundlePath } from '../support/workers.ts';
import { createDelivery } from '../webhooks/delivery-fixture.ts';
import { documentOf } from './service.ts';

interface Request {
  /** Parameters of the path, by name. */
  parameters?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  /** JSON. */
  body?: object;
  /** In place of a body. */
  content?: Uint8Array;
}

const endpoints: readonly EndpointContract[] = list;
const document = documentOf(endpoints);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    isOpen: operation.security?.length === 0,
    statuses: Object.keys(operation.responses).map(Number),
    example: operation.requestBody?.content['application/json'] as { example?: object } | undefined,
  })),
);
type Operation = (typeof operations)[number];

const endpointOf = ({ id }: Operation) =>
  endpoints.find(({ slug, aliases = [] }) => slug === id || aliases.includes(id));
const isManagement = ({ path }: Operation) => path.startsWith('/mgmt/');
const isLicense = ({ path }: Operation) => path.startsWith('/v1/sdk-licenses/');

let api: TestApi;
/** A service without PostgreSQL and without its file store. */
let cutOff: TestApi;
/** A service whose files are in a bucket that gives links. */
let linking: TestApi;
/** A service in which nothing works. */
let broken: TestApi;
let postgres: TcpProxy;
let workers: TestWorkers;
let customer: Customer;
let uploads: Record<'picture' | 'video', string>;

beforeAll(async () => {
  const storeAway = async () => {
    throw new StoreUnavailableError('the file store is away');
  };
  [api, cutOff, linking, broken] = await Promise.all([
    startTestApi({ licenseSigning: createLicenseSigning([newLicenseKey('contract')], PUBLIC_BASE_URL) }),
    startTestApi({
      store: new Proxy({} as ObjectStore, { get: () => storeAway }),
      async connectTo(databaseUrl) {
        const url = new URL(databaseUrl);
        postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
        url.port = String(postgres.port);
        return url.href;
      },
    }),
    startTestApi({
      store: {
        size: async () => png.byteLength,
        linkTo: async () => 'https://bucket.example/signed',
      } as unknown as ObjectStore,
    }),
    startTestApi({
      orm: {
        em: {
          fork() {
            throw new Error('nothing works');
          },
        },
      } as unknown as MikroORM,
    }),
  ]);
  await postgres.goAway();
  workers = await startTestWorkers(api.temporal, [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowBundle: { codePath: await workflowBundlePath() },
      activities: createDeliveryActivities({
        orm: api.orm,
        sealedSecrets: api.sealedSecrets,
        logger: api.log.logger,
        webhookClient: { post: async () => ({ statusCode: 200, retryAfter: undefined }) },
      }),
    },
  ]);
  customer = await createCustomer(api.orm, { test: 1_000_000 });
  const video = new URL('../../src/endpoints/render.video/fixtures/walk-around-16-9.mp4', import.meta.url);
  uploads = {
    picture: await upload(api, customer.keys.test),
    video: await upload(api, customer.keys.test, readFileSync(video)),
  };
  const paid = { paidFrom: new Date(), paidUntil: new Date(Date.now() + 3_600_000), maxSdks: 4 };
  await setPaidPeriod(api.orm.em.fork(), customer.organizationId, paid);
});
afterAll(async () => {
  await workers.stop();
  await postgres.comeBack();
  await Promise.all([api, cutOff, linking, broken].map((each) => each.close()));
  await postgres.close();
});

beforeEach(() => query(api.orm.em.fork(), 'delete from rate_limits'));

// ---- A request of each operation that is done --------------------------------------------------------------------

const DONE: Record<string, () => Promise<Request>> = {
  getJob: async () => ({ parameters: { id: await queuedJob() } }),
  getOrganizationJob: async () => ({ parameters: { id: await queuedJob() } }),
  listOrganizationJobFiles: async () => ({ parameters: { id: await queuedJob() } }),
  listOrganizationJobEvents: async () => ({ parameters: { id: await queuedJob() } }),
  cancelJob: async () => ({ parameters: { id: await queuedJob() } }),
  streamJob: async () => ({ parameters: { id: await endedJob('dashboard.read') } }),
  getEvent: async () => ({ parameters: { id: await event() } }),
  createUpload: async () => ({ body: ANNOUNCED }),
  getUpload: async () => ({ parameters: { id: uploads.picture } }),
  putUploadContent: () => announced(),
  getArtefact: () => artefact(),
  getSdkLicense: async () => ({ parameters: { sdk: 'player' } }),
  issueSdkLicense: async () => ({ parameters: { sdk: 'player' }, body: {} }),
  createApiKey: async () => ({ body: { name: 'Walk', livemode: false } }),
  getApiKey: async () => ({ parameters: { id: await apiKey() } }),
  updateApiKey: async () => ({ parameters: { id: await apiKey() }, body: { name: 'Walked' } }),
  rotateApiKey: async () => ({ parameters: { id: await apiKey() }, body: {} }),
  revokeApiKey: async () => ({ parameters: { id: await apiKey() }, body: {} }),
  updateOrganization: async () => ({ body: { name: 'Walk' } }),
  createWebhookEndpoint: async () => ({
    body: { url: 'https://1.1.1.1/hook', events: ['job.failed'], livemode: false },
  }),
  getWebhookEndpoint: async () => ({ parameters: { id: await webhookEndpoint() } }),
  updateWebhookEndpoint: async () => ({ parameters: { id: await webhookEndpoint() }, body: { description: 'Walk' } }),
  deleteWebhookEndpoint: async () => ({ parameters: { id: await webhookEndpoint() } }),
  enableWebhookEndpoint: async () => ({ parameters: { id: await webhookEndpoint() }, body: {} }),
  rotateWebhookSecret: async () => ({ parameters: { id: await webhookEndpoint() }, body: {} }),
  testWebhookEndpoint: async () => ({ parameters: { id: await webhookEndpoint() }, body: {} }),
  listWebhookDeliveries: async () => ({ parameters: { id: await webhookEndpoint() } }),
  getWebhookDelivery: async () => ({ parameters: await delivered() }),
  getWebhookDeliveryBody: async () => ({ parameters: await delivered() }),
  replayWebhookDelivery: async () => ({ parameters: await delivered(), body: {} }),
  replayFailedWebhookDeliveries: async () => ({ parameters: { id: await webhookEndpoint() }, body: { since: 0 } }),
  updateCredits: async () => ({ body: { livemode: false, low_balance_threshold: 1 } }),
  topUpCredits: async () => ({ body: { livemode: false, credits: 1 } }),
  getStatement: async () => ({ parameters: { month: new Date().toISOString().slice(0, 7) } }),
};

const ANNOUNCED = { filename: 'a.jpg', bytes: jpeg.byteLength, mime_type: 'image/jpeg' };

async function requestOf(operation: Operation): Promise<Request> {
  const endpoint = endpointOf(operation);
  return endpoint ? { body: await exampleBody(operation, endpoint) } : ((await DONE[operation.id]?.()) ?? {});
}

/** The body that the document shows, with uploads and jobs that exist. */
async function exampleBody({ example }: Operation, endpoint: EndpointContract): Promise<object> {
  const body = { ...example?.example } as Record<string, unknown>;
  const kind = endpoint.files.mediaTypes[0]?.startsWith('video/') ? 'video' : 'picture';
  if ('input_ref' in body) body.input_ref = uploads[kind];
  if ('input_refs' in body) body.input_refs = (body.input_refs as string[]).map(() => uploads[kind]);
  for (const { parameter, endpoints: usable } of endpoint.jobReferences ?? []) {
    if (parameter in body) body[parameter] = await endedJob(usable[0] ?? '');
  }
  return body;
}

const queuedJob = async () => (await read(api, { key: customer.keys.test })).job.id;

/** On the picture that the examples send. */
async function endedJob(endpoint: string): Promise<string> {
  const [sha256, bytes] = [hash('sha256', jpeg), jpeg.byteLength];
  const input = { field: 'image', storageKey: 'jobs/ended.0', mediaType: 'image/jpeg', bytes, sha256, uploadId: null };
  const id = await admit(api.orm, customer, { endpoint, inputs: [input] });
  const ended = { status: 'succeeded', result: {}, completedAt: new Date() } as const;
  await api.orm.em.fork().nativeUpdate(Job, { id }, ended);
  return id;
}

const apiKey = async () => (await createKey(api.orm, customer.organizationId, 'test')).id;
const webhookEndpoint = async () => (await createWebhookEndpoint(api.orm, customer.organizationId)).id;

/** A delivery that has ended, and where it is. */
async function delivered() {
  const id = await webhookEndpoint();
  const { organizationId, keyIds } = customer;
  const owner = { organizationId, apiKeyId: keyIds.test, livemode: false, isStaging: false };
  const { deliveryId } = await createDelivery(api.orm, owner, id);
  await api.orm.em.fork().nativeUpdate(WebhookDelivery, { id: deliveryId }, { status: 'failed' });
  return { id, delivery_id: deliveryId };
}

async function event(): Promise<string> {
  const em = api.orm.em.fork();
  const id = newId('event');
  const job = renderJob(await em.findOneOrFail(Job, { id: await endedJob('dashboard.read') }));
  const [type, createdAt, { organizationId }] = ['job.succeeded', new Date(), customer] as const;
  const payload = renderEvent({ id, type, createdAt, job, requestId: newId('request'), idempotencyKey: null });
  em.create(Event, { id, organizationId, livemode: false, isStaging: false, type, jobId: job.id, payload, createdAt });
  await em.flush();
  return id;
}

/** The content of an upload that was announced, at its link. */
async function announced(announcement: object = ANNOUNCED, content: Uint8Array = jpeg): Promise<Request> {
  const headers = { 'Content-Type': 'application/json' };
  const options = { method: 'POST', key: customer.keys.test, headers, body: JSON.stringify(announcement) };
  const { json } = await api.call('/v1/uploads', options);
  const { searchParams } = new URL(String(json.upload_url));
  return { parameters: { id: String(json.id) }, query: String(searchParams), content };
}

/** A file that a job made, at its link. */
async function artefact(): Promise<Request> {
  const name = `${newId('artefact')}.png`;
  await api.store.put(`artefacts/${name}`, png);
  const link = new URL(api.signedUrls.sign(`/v1/artefacts/${name}`, new Date(Date.now() + 60_000)));
  return { parameters: { name }, query: String(link.searchParams) };
}

// ---- Sending it --------------------------------------------------------------------------------------------------

interface Sending extends Request {
  to?: TestApi;
  /** Null sends none. */
  key?: string | null;
}

async function send(operation: Operation, sending: Sending): Promise<Answer> {
  const { to = api, parameters = {}, query: search, headers, body, content } = sending;
  const key = sending.key === undefined ? await keyOf(operation, to) : sending.key;
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? 'x');
  return to.call(filled + (search === undefined ? '' : `?${search}`), {
    method: operation.method,
    ...(key !== null && { key }),
    headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    ...(content && { body: new Uint8Array(content) }),
  });
}

/** What opens an operation. */
async function keyOf(operation: Operation, { identity }: TestApi): Promise<string | null> {
  if (operation.isOpen) return null;
  if (isManagement(operation)) return identity.token({ organizationId: customer.organizationId, userId: OWNER });
  return isLicense(operation) ? customer.keys.live : customer.keys.test;
}

const OWNER = newId('user');

/** Has no scope, or no role that would do. */
async function powerlessKeyOf(operation: Operation): Promise<string> {
  const { organizationId } = customer;
  if (!isManagement(operation)) return (await createKey(api.orm, organizationId, 'test', { scopes: [] })).secret;
  const known = managementOperations.find(({ id }) => id === operation.id);
  const role = ROLES.find((candidate) => known && !mayDo(candidate, known.permission));
  if (!role) throw new Error(`every role may do ${operation.id}`);
  return api.identity.token({ organizationId, role });
}

// ---- Every status ------------------------------------------------------------------------------------------------

/** As `requestOf`, with ids in path and body that nothing has. */
async function requestForNothing(operation: Operation): Promise<Request> {
  if (operation.id === 'getStatement') return { parameters: { month: '9999-12' } };
  const { parameters, body, ...request } = await requestOf(operation);
  // Where files may be left out, the example may name nothing that could be missing.
  const isNaming = !endpointOf(operation) || ID.test(JSON.stringify(body));
  const named = isNaming ? body : { ...body, input_refs: [uploads.picture] };
  return {
    ...request,
    ...(parameters && { parameters: withUnknownIds(parameters) }),
    ...(named && { body: withUnknownIds(named) }),
  };
}

const withUnknownIds = <Value extends object>(value: Value): Value =>
  JSON.parse(JSON.stringify(value).replaceAll(new RegExp(ID, 'g'), '"$1_11111111"')) as Value;

const ID = /"(job|upl|evt|key|whe|whd)_\w{8,}"/;

const ANSWERS: Record<number, (operation: Operation) => Promise<Answer>> = {
  200: async (operation) =>
    send(operation, { ...(await requestOf(operation)), ...(endpointOf(operation) && { query: 'dry_run=true' }) }),
  201: async (operation) => send(operation, await requestOf(operation)),
  202: async (operation) => send(operation, await requestOf(operation)),
  204: async (operation) => send(operation, await requestOf(operation)),
  308: async (operation) =>
    send(operation, {
      ...(await requestOf(operation)),
      content: new Uint8Array(),
      headers: { 'Content-Range': `bytes */${jpeg.byteLength}` },
    }),
  400: async (operation) => send(operation, { ...(await requestOf(operation)), query: 'nul=%00' }),
  401: async (operation) => send(operation, { ...(await requestOf(operation)), key: null }),
  402: async (operation) =>
    send(operation, {
      ...(await requestOf(operation)),
      headers: { 'X-Service-Test-Scenario': 'insufficient_credits' },
    }),
  403: async (operation) => send(operation, { ...(await requestOf(operation)), key: await powerlessKeyOf(operation) }),
  404: async (operation) => send(operation, await requestForNothing(operation)),
  // A key that was used for something else.
  409: async (operation) => {
    const request = await requestOf(operation);
    const headers = { 'Idempotency-Key': newId('request') };
    expect((await send(operation, { ...request, headers })).status).toBeLessThan(300);
    const key = headers['Idempotency-Key'];
    await query(api.orm.em.fork(), `update idempotency_claims set fingerprint = '' where key = $1`, [key]);
    return send(operation, { ...request, headers });
  },
  413: async (operation) =>
    send(operation, { ...(await requestOf(operation)), body: { padding: 'x'.repeat(1024 * 1024) } }),
  415: async (operation) => {
    const request = await requestOf(operation);
    return send(operation, { ...request, body: request.body ?? {}, headers: { 'Content-Type': 'text/plain' } });
  },
  429: async (operation) => {
    const request = await requestOf(operation);
    await send(operation, request);
    await query(api.orm.em.fork(), 'update rate_limits set requests = 1000000');
    return send(operation, request);
  },
  500: async (operation) => send(operation, { ...(await requestOf(operation)), to: broken }),
  503: async (operation) => send(operation, { ...(await requestOf(operation)), to: cutOff }),
};

/** For a status with several responses. */
const OTHERWISE: Record<string, (operation: Operation) => Promise<Answer>> = {
  // A key that was revoked.
  'updateApiKey 409': async (operation) => {
    const { id } = await createKey(api.orm, customer.organizationId, 'test', { revokedAt: new Date() });
    return send(operation, { ...(await requestOf(operation)), parameters: { id } });
  },
  'getArtefact 206': async (operation) =>
    send(operation, { ...(await requestOf(operation)), headers: { Range: 'bytes=0-9' } }),
  'getArtefact 304': async (operation) => {
    const request = await requestOf(operation);
    const headers = { 'If-None-Match': `"${request.parameters?.name}"`, 'Cache-Control': '' };
    return send(operation, { ...request, headers });
  },
  'getArtefact 404': async (operation) =>
    send(operation, { ...(await requestOf(operation)), parameters: { name: `${newId('artefact')}.png` } }),
  'getArtefact 307': async (operation) => send(operation, { ...(await requestOf(operation)), to: linking }),
  'getArtefact 416': async (operation) =>
    send(operation, { ...(await requestOf(operation)), headers: { Range: `bytes=${png.byteLength}-` } }),
  // A client that saw the end gets 204.
  'streamJob 204': async (operation) =>
    send(operation, { ...(await requestOf(operation)), headers: { 'Last-Event-ID': 'succeeded' } }),
  // It takes no body: only a packed one is refused.
  'cancelJob 415': async (operation) =>
    send(operation, { ...(await requestOf(operation)), headers: { 'Content-Encoding': 'gzip' } }),
  'putUploadContent 409': async (operation) => {
    const ready = await announced();
    await send(operation, ready);
    return send(operation, { ...ready, content: Buffer.from(jpeg).fill('other', 100) });
  },
  'putUploadContent 413': async (operation) =>
    send(operation, {
      ...(await announced({ filename: 'a.mp4', bytes: 100_000_000, mime_type: 'video/mp4' })),
      headers: { 'Content-Range': 'bytes 0-99999999/100000000' },
    }),
  'putUploadContent 415': async (operation) =>
    send(operation, await announced({ ...ANNOUNCED, bytes: png.byteLength }, png)),
};

const documented = operations.flatMap((operation) =>
  operation.statuses.map((status) => ({ name: `${operation.method} ${operation.path} ${status}`, operation, status })),
);

it.each(documented)('the service gives the documented response $name', async ({ operation, status }) => {
  const bringAbout = OTHERWISE[`${operation.id} ${status}`] ?? ANSWERS[status];
  const answer = await bringAbout?.(operation);
  expect([answer?.status, answer?.text]).toEqual([status, expect.any(String)]);
});
