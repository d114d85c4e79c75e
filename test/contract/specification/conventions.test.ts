/** The specification of all requests: surfaces, conventions and versions. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointBySlug, endpoints } from '../../../src/endpoints/list.ts';
import { endpointPath } from '../../../src/endpoints/shared/endpoint-path.ts';
import type { TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../../support/customers.ts';
import type { OpenApiDocument } from '../../support/openapi-check.ts';
import { anotherJpeg, jpeg } from '../../support/pictures.ts';
import { expectReplay, filePart, read, upload } from '../../support/requests.ts';
import { expectMet, getJob, postJson, run, settle, startIdle, startTestMode } from '../service.ts';
import { ENDPOINT_SLUGS } from './endpoint-slugs.ts';

/** The link is enough; no key is needed. */
const SIGNED_LINKS = ['/v1/uploads/{id}/content', '/v1/artefacts/{name}'];

/** `scheme`: the surface's security scheme. `refused`: the response to a credential of the other surface. */
const SURFACES = [
  { surface: 'Inference', prefix: '/v1/', scheme: 'apiKey', refused: 'invalid_api_key', open: SIGNED_LINKS },
  { surface: 'Management', prefix: '/mgmt/v1/', scheme: 'memberToken', refused: 'invalid_token', open: [] },
] as const;

/** Video, 360 and bundle endpoints. */
const WITHOUT_WAIT = ['vehicle.analyze', 'video.onboard', 'inspections', 'render.360', 'render.video'];

const VERSION_LABEL = '2026-10-04';
const MODEL_VERSION_PATTERN = /^[^@]+@\d{4}-\d{2}-\d{2}$/;

const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);

let api: TestApi;
/** Where nobody picks a job up. */
let idle: TestApi;
let document: OpenApiDocument;

beforeAll(async () => {
  [api, idle] = await Promise.all([startTestMode(), startIdle()]);
  document = JSON.parse((await api.call('/openapi.json')).text);
});
afterAll(async () => {
  await Promise.all([api.close(), idle.close()]);
});

describe('Surface', () => {
  it.each(SURFACES)(
    'the surface $surface is under $prefix and takes its own kind of credential only',
    async ({ prefix, scheme, refused, open }) => {
      const operations = Object.entries(document.paths)
        .filter(([path]) => path.startsWith(prefix))
        .flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, ...operation })));
      const closed = operations.filter(({ security }) => security?.length !== 0);
      expect(closed.length).toBeGreaterThan(0);
      for (const { path, security = document.security } of closed)
        expect({ path, security }).toEqual({ path, security: [{ [scheme]: [] }] });
      expect(operations.filter((operation) => !closed.includes(operation)).map(({ path }) => path)).toEqual(open);

      const { keys, organizationId } = await createCustomer(api.orm);
      const foreign = scheme === 'apiKey' ? await api.identity.token({ organizationId }) : keys.live;
      const path = scheme === 'apiKey' ? '/v1/endpoints' : '/mgmt/v1/api-key-scopes';
      const answer = await api.call(path, { key: foreign });
      expect([answer.status, answer.error.code]).toEqual([401, refused]);
    },
  );

  it('the surfaces cover every operation except the public licence keys', () => {
    const others = Object.keys(document.paths).filter(
      (path) => !SURFACES.some(({ prefix }) => path.startsWith(prefix)),
    );
    expect(others).toEqual(['/.well-known/jwks.json']);
  });
});

const CONVENTIONS: Record<string, (customer: Customer) => Promise<void>> = {
  'every inference endpoint is a POST under /v1': async () => {
    for (const slug of ENDPOINT_SLUGS) expect(Object.keys(document.paths[endpointPath(slug)] ?? {})).toEqual(['post']);
  },

  'an inference call returns 202 with a queued Job': async ({ keys }) => {
    const { status, job } = await read(idle, { key: (await createCustomer(idle.orm)).keys.test });
    expect([status, job]).toEqual([202, expect.objectContaining({ status: 'queued', result: null, error: null })]);
    expect(job).toMatchObject({ started_at: null, completed_at: null, model_version: null });
    expect((await read(api, { key: keys.test })).status).toBe(202);
  },

  'the result is collected by GET /v1/jobs/{id}': async (customer) => {
    const job = await run(api, 'dashboard.read', customer);
    expect(job).toMatchObject({ status: 'succeeded', result: expect.any(Object) });
  },

  'with wait=true the answer is 200 with the settled Job': async (customer) => {
    const { job } = await settle(api, customer);
    expect(job.status).toBe('succeeded');
    expect(job).toEqual(await getJob(api, job.id, customer.keys.test));
  },

  'when the ceiling of wait passes, the answer is 202 and the job goes on': async () => {
    const { keys } = await createCustomer(idle.orm);
    const { status, job } = await read(idle, { key: keys.test, query: '?wait=true' });
    expect([status, job.status]).toEqual([202, 'queued']);
    expect((await getJob(idle, job.id, keys.test)).status).toBe('queued');
  },

  'a multipart part carries the file and JSON refers to an upload, with the same effect': async (customer) => {
    const direct = await settle(api, customer, { fields: { unit_hint: 'mi' } });
    const input_ref = await upload(api, customer.keys.test);
    const referring = await settle(api, customer, { json: { input_ref, unit_hint: 'mi' } });
    expect(referring.job.result).toEqual(direct.job.result);
  },

  'input_refs names the uploads of an endpoint that takes several': async ({ keys }) => {
    const input_refs = [await upload(api, keys.test), await upload(api, keys.test)];
    const answer = await postJson(api, endpointPath('driver_license.read'), keys.test, { input_refs });
    expect(answer.status).toBe(202);
  },

  'a video comes as an upload only': async ({ keys }) => {
    const body = new FormData();
    body.append('video', filePart(jpeg), 'a.mp4');
    const direct = await api.call(endpointPath('video.onboard'), { method: 'POST', key: keys.test, body });
    expect(direct.error.code).toBe('unsupported_media_type');
    const video = new FormData();
    video.append('file', filePart(readFileSync(new URL('video.onboard/fixtures/example.mp4', endpointsDirectory))));
    const { json } = await api.call('/v1/uploads', { method: 'POST', key: keys.test, body: video });
    expect((await postJson(api, endpointPath('video.onboard'), keys.test, { input_ref: json.id })).status).toBe(202);
  },

  'an Idempotency-Key makes a replay answer the stored response, and bills nothing': async (customer) => {
    const request = { idempotencyKey: 'a-key-of-this-test' };
    const { answer } = await settle(api, customer, request);
    const before = await readAccount(api.orm, customer.organizationId, false);
    const replay = await settle(api, customer, request);
    expectReplay(replay.answer, answer);
    expect(answer.headers.get('Idempotent-Replayed')).toBeNull();
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual(before);
  },

  'an Idempotency-Key has 8 to 255 characters': async ({ keys }) => {
    const send = async (length: number) =>
      (await read(api, { key: keys.test, image: anotherJpeg(), idempotencyKey: 'k'.repeat(length) })).status;
    expect([await send(7), await send(8), await send(255), await send(256)]).toEqual([400, 202, 202, 400]);
  },

  'test jobs carry livemode false and draw on the test balance alone': async (customer) => {
    const live = await readAccount(api.orm, customer.organizationId, true);
    const before = await readAccount(api.orm, customer.organizationId, false);
    const { job } = await settle(api, customer);
    expect(job.livemode).toBe(false);
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(live);
    const after = await readAccount(api.orm, customer.organizationId, false);
    expect(before.available - after.available).toBe(job.credits.charged);
  },

  'live keys ignore X-Service-Test-Scenario': async ({ keys }) => {
    const answer = await read(api, { key: keys.live, scenario: 'no_such_scenario' });
    expect(answer.error.code).toBe('endpoint_unavailable');
  },

  'GET /v1/endpoints tells availability and preview': async ({ keys }) => {
    const { json } = await api.call('/v1/endpoints', { key: keys.test });
    const told = json.data as { endpoint: string; preview: boolean; available: boolean }[];
    expect(told.map(({ endpoint }) => endpoint).toSorted()).toEqual(ENDPOINT_SLUGS.toSorted());
    for (const { endpoint, preview } of told) expect(preview).toBe(endpointBySlug(endpoint).preview);
    expect(told.every(({ available }) => typeof available === 'boolean')).toBe(true);
  },

  'every response carries Request-Id': async ({ keys }) => {
    const answers = await Promise.all([
      read(api, { key: keys.test }),
      read(api, {}),
      api.call('/v1/endpoints', { key: keys.test }),
      api.call('/v1/none'),
    ]);
    for (const { headers } of answers) expect(headers.get('Request-Id')).toMatch(/^req_/);
  },
};

describe('Convention', () => {
  it.each(Object.entries(CONVENTIONS))('the convention is kept: %s', async (_convention, met) => {
    await expectMet(met, await createCustomer(api.orm));
  });

  it.each(WITHOUT_WAIT)('%s rejects wait', async (slug) => {
    expect(endpointBySlug(slug).acceptsWait).toBe(false);
    expect(document.paths[endpointPath(slug)]?.post?.parameters?.map(({ name }) => name)).not.toContain('wait');
    const { keys } = await createCustomer(api.orm);
    const path = `${endpointPath(slug)}?wait=true`;
    const answer = await api.call(path, { method: 'POST', key: keys.test, body: new FormData() });
    expect([answer.status, answer.error.code]).toEqual([400, 'wait_not_supported']);
  });

  it('every endpoint accepts wait except those specified without it', () => {
    for (const { slug, acceptsWait } of endpoints)
      expect({ slug, acceptsWait }).toEqual({ slug, acceptsWait: !WITHOUT_WAIT.includes(slug) });
  });
});

describe('Versioning', () => {
  it('the interface description carries the version label', () => {
    expect(document.info.version).toBe(VERSION_LABEL);
  });

  it('model_version is <model>@<release date>', async () => {
    const { job } = await settle(api, await createCustomer(api.orm));
    expect(job.model_version).toMatch(MODEL_VERSION_PATTERN);
  });
});
