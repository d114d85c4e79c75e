/** The specification's tables of webhook endpoints and their transitions, on real responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeliveryActivities } from '../../../src/activities/delivery-activities.ts';
import { newId } from '../../../src/platform/ids.ts';
import { DELIVERY_BACKOFF_MS } from '../../../src/webhooks/backoff-schedule.ts';
import { WebhookEndpoint } from '../../../src/webhooks/entities.ts';
import { createTargetRules, findWebhookUrlProblem } from '../../../src/webhooks/webhook-target.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { managing } from '../../support/management.ts';
import { createDelivery, createOwner } from '../../webhooks/delivery-fixture.ts';
import { type BodyField, expectFieldIn, type Field, type Fields, namesOf, valuesOf } from './fields.ts';

const EVENT_NAMES = ['job.succeeded', 'job.partial', 'job.failed'];

const WEBHOOK_ENDPOINT_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'], pattern: '^whe_[1-9A-HJ-NP-Za-km-z]{8,32}$' },
  { field: 'object', types: ['string'], values: ['webhook_endpoint'] },
  { field: 'url', types: ['string'] },
  { field: 'description', types: ['string'] },
  { field: 'events', types: ['array'] },
  { field: 'status', types: ['string'], values: ['enabled', 'disabled'] },
  { field: 'livemode', types: ['boolean'] },
  { field: 'is_staging', types: ['boolean'] },
  { field: 'created', types: ['integer'] },
  { field: 'consecutive_failures', types: ['integer'] },
  { field: 'last_success_at', types: ['integer', 'null'] },
  { field: 'last_error', types: ['string', 'null'] },
];

/** What the specification does not know of. */
const OWN_FIELDS = ['failing_since', 'previous_secret_expires_at'];

/** Body of `POST /mgmt/v1/webhook-endpoints`. */
const WEBHOOK_ENDPOINT_BODY: readonly BodyField[] = [
  {
    field: 'url',
    accepts: ['https://1.1.1.1/hook'],
    refuses: ['', 'hook', 'http://1.1.1.1/', 'https://10.0.0.1/', 'https://169.254.169.254/', 1, null],
  },
  {
    field: 'events',
    accepts: [...EVENT_NAMES.map((name) => [name]), EVENT_NAMES],
    refuses: [[], ['job.canceled'], 'job.failed', null],
  },
  { field: 'is_staging', accepts: [true, false], refuses: ['true', 1, null] },
  { field: 'description', accepts: ['', 'x'.repeat(255)], refuses: ['x'.repeat(256), 1, null] },
  { field: 'livemode', accepts: [true, false], refuses: ['true', 1, null] },
];

const TRANSITIONS = [
  { from: null, to: 'enabled', by: 'its creation' },
  { from: 'enabled', to: 'disabled', by: '24 h of consecutive delivery failures' },
  { from: 'disabled', to: 'enabled', by: 'enabling it again' },
] as const;

const TAKEN = { url: 'https://1.1.1.1/hook', events: ['job.succeeded'], livemode: true };
const DAY_MS = 24 * 60 * 60_000;

let api: TestApi;

beforeAll(async () => {
  // As in production. An address in place of a host needs no name server.
  api = await startTestApi({ findWebhookUrlProblem: (url) => findWebhookUrlProblem(url, createTargetRules(false)) });
});
afterAll(() => api.close());

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

  it.each(WEBHOOK_ENDPOINT_FIELDS)('the field $field of a webhook endpoint is as specified', (row) =>
    expectFieldIn(endpoints, row),
  );

  it('a webhook endpoint shows its secret only in the creating response', async () => {
    const names = [...namesOf(WEBHOOK_ENDPOINT_FIELDS), ...OWN_FIELDS];
    for (const endpoint of endpoints) expect(Object.keys(endpoint).toSorted()).toEqual(names.toSorted());
    expect(Object.keys((await create()).json).toSorted()).toEqual([...names, 'secret'].toSorted());
  });
});

describe('Body of POST /mgmt/v1/webhook-endpoints', () => {
  it.each(valuesOf(WEBHOOK_ENDPOINT_BODY, 'accepts'))(
    'POST /mgmt/v1/webhook-endpoints accepts $field: $value',
    async ({ field, value }) => {
      expect((await create({ [field]: value })).status).toBe(201);
    },
  );

  it.each(valuesOf(WEBHOOK_ENDPOINT_BODY, 'refuses'))(
    'POST /mgmt/v1/webhook-endpoints refuses $field: $value',
    async ({ field, value }) => {
      const answer = await create({ [field]: value });
      expect([answer.status, answer.error.code]).toEqual([400, 'parameter_invalid']);
      expect(answer.error.param).toMatch(new RegExp(`^${field}(?:\\.|$)`));
    },
  );

  it.each(['url', 'events'])('POST /mgmt/v1/webhook-endpoints requires %s', async (field) => {
    const { status, error } = await create({ [field]: undefined });
    expect([status, error.code, error.param]).toEqual([400, 'parameter_missing', field]);
  });

  it('POST /mgmt/v1/webhook-endpoints requires live mode for is_staging', async () => {
    const { status, error } = await create({ livemode: false, is_staging: true });
    expect([status, error.code, error.param]).toEqual([400, 'parameter_invalid', 'is_staging']);
  });
});

describe('Transition', () => {
  it.each(TRANSITIONS)('a webhook endpoint goes from $from to $to by $by', async ({ from, to, by }) => {
    const owner = await createOwner(api.orm);
    const manage = managing(api, owner.organizationId);
    const made = (await create({}, manage)).json as { id: string; status: string };
    const path = `/webhook-endpoints/${made.id}`;
    const status = async () => (await manage(path)).json.status;
    const met: Record<typeof by, () => Promise<unknown>> = {
      'its creation': async () => [null, made.status],
      '24 h of consecutive delivery failures': async () => {
        const { deliveryId } = await createDelivery(api.orm, owner, made.id);
        await failToDeliver(deliveryId, 0);
        const before = await status();
        await failToDeliver(deliveryId, DAY_MS);
        return [before, await status()];
      },
      'enabling it again': async () => {
        await manage(path, { method: 'PATCH', body: { status: 'disabled' } });
        return [await status(), (await manage(`${path}/enable`, { body: {} })).json.status];
      },
    };
    expect(await met[by]()).toEqual([from, to]);
  });
});

/** An attempt that gets 500, made so long from now. */
async function failToDeliver(deliveryId: string, laterMs: number): Promise<void> {
  const activities = createDeliveryActivities({
    orm: api.orm,
    sealedSecrets: api.sealedSecrets,
    logger: api.log.logger,
    clock: () => new Date(Date.now() + laterMs),
    webhookClient: { post: async () => ({ statusCode: 500, retryAfter: undefined }) },
  });
  await activities.attemptDelivery({
    deliveryId,
    attempt: laterMs === 0 ? 1 : 2,
    lastAttempt: false,
    hasWaited: false,
    schedule: { ladderMs: DELIVERY_BACKOFF_MS, firstAttemptAtMs: Date.now(), random: 0 },
  });
}
