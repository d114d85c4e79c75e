/** The specification's rows of webhook endpoints: each under its own name, on real answers. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebhookEndpoint } from '../../src/db/entities.ts';
import { createTargetRules, findWebhookUrlProblem } from '../../src/delivery/webhook-target.ts';
import { newId } from '../../src/domain/ids.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { managing } from '../support/management.ts';
import { WEBHOOK_ENDPOINT_BODY, WEBHOOK_ENDPOINT_FIELDS } from './specification-tables.ts';

type Fields = Record<string, unknown>;

const TAKEN = { url: 'https://1.1.1.1/hook', events: ['job.succeeded'], livemode: true };
/** What the specification does not know of. */
const OWN_FIELDS = ['failing_since', 'previous_secret_expires_at'];

let api: TestApi;

beforeAll(async () => {
  // As in production. An address in place of a host needs no name server.
  api = await startTestApi({ findWebhookUrlProblem: (url) => findWebhookUrlProblem(url, createTargetRules(false)) });
});
afterAll(() => api.close());

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** As a new organisation each time, so that none has too many. */
function create(body: Fields = {}, manage = managing(api, newId('organization'))) {
  return manage('/webhook-endpoints', { body: { ...TAKEN, ...body } });
}

describe('Webhook endpoint', () => {
  let endpoints: Fields[];

  beforeAll(async () => {
    const manage = managing(api, newId('organization'));
    const { id } = (await create({ description: 'Used' }, manage)).json as { id: string };
    const used = { lastSuccessAt: new Date(), lastError: 'HTTP 500', status: 'disabled' } as const;
    await api.orm.em.fork().nativeUpdate(WebhookEndpoint, { id }, used);
    await create({ livemode: false }, manage);
    endpoints = (await manage('/webhook-endpoints')).json.data as Fields[];
    expect(endpoints).toHaveLength(2);
  });

  it.each(WEBHOOK_ENDPOINT_FIELDS)('$field', ({ field, types, values, pattern }) => {
    const found = endpoints.map((endpoint) => endpoint[field]);
    expect(new Set(found.map(typeOf))).toEqual(new Set(types));
    for (const value of found) {
      if (values) expect(values).toContain(value);
      if (pattern !== undefined) expect(value).toMatch(new RegExp(pattern));
    }
  });

  it('has its secret in the answer that makes it only', async () => {
    const names = [...WEBHOOK_ENDPOINT_FIELDS.map(({ field }) => field), ...OWN_FIELDS];
    for (const endpoint of endpoints) expect(Object.keys(endpoint).toSorted()).toEqual(names.toSorted());
    expect(Object.keys((await create()).json).toSorted()).toEqual([...names, 'secret'].toSorted());
  });
});

describe('Body of POST /mgmt/v1/webhook-endpoints', () => {
  it.each(WEBHOOK_ENDPOINT_BODY.flatMap(({ field, accepts }) => accepts.map((value) => ({ field, value }))))(
    '$field: $value is taken',
    async ({ field, value }) => {
      expect((await create({ [field]: value })).status).toBe(201);
    },
  );

  it.each(WEBHOOK_ENDPOINT_BODY.flatMap(({ field, refuses }) => refuses.map((value) => ({ field, value }))))(
    '$field: $value is refused',
    async ({ field, value }) => {
      const answer = await create({ [field]: value });
      expect([answer.status, answer.error.code]).toEqual([400, 'parameter_invalid']);
      expect(answer.error.param).toMatch(new RegExp(`^${field}(?:\\.|$)`));
    },
  );
});
