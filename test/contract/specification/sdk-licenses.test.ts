/** The specification's tables of SDK licences, their transitions and their errors, on real responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/contracts/error-codes.ts';
import { WILDCARD_SCOPE } from '../../../src/organizations/scopes.ts';
import { createLicenseSigning } from '../../../src/sdk-licenses/license-signing.ts';
import { setPaidPeriod } from '../../../src/sdk-licenses/sdk-subscriptions-store.ts';
import { type Answer, PUBLIC_BASE_URL, startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, createKey } from '../../support/customers.ts';
import { newLicenseKey, verifyProof } from '../../support/license-keys.ts';
import type { OpenApiDocument } from '../../support/openapi-check.ts';
import { expectFieldIn, type Field, type Fields, namesOf } from './fields.ts';

const UUID = '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const ISO_DATE_TIME = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$';

const SDK_NAMES = ['player', 'capture', 'review', 'report'];

const SDK_LICENSE_VIEW_FIELDS: readonly Field[] = [
  { field: 'sdk', types: ['string'], values: SDK_NAMES },
  { field: 'state', types: ['string'], values: ['unassigned', 'active', 'expired'] },
  { field: 'max_sdks', types: ['integer'] },
  { field: 'consumed', types: ['integer'] },
  { field: 'available', types: ['integer'] },
  { field: 'license', types: ['object', 'null'] },
];

const SDK_LICENSE_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'], pattern: UUID },
  { field: 'organization_id', types: ['string'] },
  { field: 'sdk', types: ['string'], values: SDK_NAMES },
  { field: 'created_at', types: ['string'], pattern: ISO_DATE_TIME },
  { field: 'issued_at', types: ['string'], pattern: ISO_DATE_TIME },
  { field: 'valid_from', types: ['string'], pattern: ISO_DATE_TIME },
  { field: 'expires_at', types: ['string'], pattern: ISO_DATE_TIME },
  { field: 'proof', types: ['string'] },
];

/** Transitions of the licence view, which the specification leaves open. */
const SDK_LICENSE_TRANSITIONS = [
  { from: 'unassigned', to: 'active', by: 'an issue' },
  { from: 'active', to: 'expired', by: "the paid period's end" },
  { from: 'expired', to: 'active', by: 'the next issue in a paid period' },
] as const;

/** Of `POST /v1/sdk-licenses/{sdk}`. */
const SDK_LICENSE_ERROR_ROWS = [
  { status: 400, condition: 'an unknown SDK', code: 'parameter_invalid' },
  { status: 400, condition: 'a malformed request', code: 'malformed_request' },
  { status: 403, condition: 'a key without the scope', code: 'scope_not_granted' },
  { status: 403, condition: 'a test key', code: 'license_environment_forbidden' },
  { status: 409, condition: 'nothing paid', code: 'subscription_unpaid' },
  { status: 409, condition: 'a quota that is used up', code: 'sdk_quota_exceeded' },
  { status: 409, condition: 'regenerate without a current licence', code: 'sdk_license_not_current' },
  { status: 503, condition: 'no signing key', code: 'license_signing_unconfigured' },
] as const;

const PERIOD = { paidFrom: new Date('2027-03-01T00:00:00Z'), paidUntil: new Date('2027-04-01T00:00:00Z') };
const NEXT_PERIOD = { paidFrom: PERIOD.paidUntil, paidUntil: new Date('2027-05-01T00:00:00Z') };
const IN_PERIOD = new Date('2027-03-10T00:00:00Z');
const IN_NEXT_PERIOD = new Date('2027-04-10T00:00:00Z');

const signing = createLicenseSigning([newLicenseKey('contract')], PUBLIC_BASE_URL);
const unconfigured = createLicenseSigning([], PUBLIC_BASE_URL);
const used = { ...signing };

let now = IN_PERIOD;
let api: TestApi;
let document: OpenApiDocument;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now, licenseSigning: used });
  document = JSON.parse((await api.call('/openapi.json')).text);
});
afterAll(() => api.close());

async function subscriber(maxSdks: number): Promise<Customer> {
  const customer = await createCustomer(api.orm);
  for (const period of [PERIOD, NEXT_PERIOD]) {
    await setPaidPeriod(api.orm.em.fork(), customer.organizationId, { ...period, maxSdks });
  }
  return customer;
}

const issue = (key: string, sdk = 'player', body = '{}'): Promise<Answer> =>
  api.call(`/v1/sdk-licenses/${sdk}`, {
    method: 'POST',
    key,
    body,
    headers: { 'Content-Type': 'application/json' },
  });

describe('SDK licence view', () => {
  let views: Fields[];

  beforeAll(async () => {
    const { organizationId, keys } = await subscriber(1);
    now = IN_PERIOD;
    await issue(keys.live);
    const asMember = { organizationId, role: 'member' } as const;
    const list = async () => api.call('/mgmt/v1/sdk-licenses', { key: await api.identity.token(asMember) });
    const active = (await list()).json.data as Fields[];
    now = IN_NEXT_PERIOD;
    views = [...active, ...((await list()).json.data as Fields[])];
    now = IN_PERIOD;
  });

  it.each(SDK_LICENSE_VIEW_FIELDS)('the field $field of an SDK licence view is as specified', (row) =>
    expectFieldIn(views, row),
  );

  it('an SDK licence view occurs in every state, for every SDK, and counts from 0', () => {
    expect(new Set(views.map(({ state }) => state))).toEqual(new Set(['unassigned', 'active', 'expired']));
    expect(views.map(({ sdk }) => sdk)).toEqual([...SDK_NAMES, ...SDK_NAMES]);
    for (const { max_sdks, consumed, available } of views) {
      for (const count of [max_sdks, consumed, available]) expect(count).toBeGreaterThanOrEqual(0);
    }
  });

  it('an SDK licence view has no other field than those specified', () => {
    for (const view of views) expect(Object.keys(view).toSorted()).toEqual(namesOf(SDK_LICENSE_VIEW_FIELDS));
  });
});

describe('SDK licence', () => {
  let licenses: Fields[];

  beforeAll(async () => {
    const { keys } = await subscriber(4);
    licenses = [];
    for (const sdk of SDK_NAMES) licenses.push((await issue(keys.live, sdk)).json.license as Fields);
  });

  it.each(SDK_LICENSE_FIELDS)('the field $field of an SDK licence is as specified', (row) =>
    expectFieldIn(licenses, row),
  );

  it('an SDK licence has no other field than those specified', () => {
    for (const license of licenses) expect(Object.keys(license).toSorted()).toEqual(namesOf(SDK_LICENSE_FIELDS));
  });

  it('the proof of an SDK licence is an EdDSA JWT for offline verification, never a credential', async () => {
    const { keys } = JSON.parse((await api.call('/.well-known/jwks.json')).text) as { keys: unknown };
    for (const { proof, id } of licenses) {
      const { payload, protectedHeader } = await verifyProof(String(proof), { keys }, IN_PERIOD);
      expect([protectedHeader.alg, payload.jti]).toEqual(['EdDSA', id]);
      expect((await api.call('/v1/api-keys/self', { key: String(proof) })).status).toBe(401);
      expect((await api.call('/mgmt/v1/sdk-licenses', { key: String(proof) })).status).toBe(401);
    }
  });
});

describe('POST /v1/sdk-licenses/{sdk}', () => {
  it('POST /v1/sdk-licenses/{sdk} is documented with the specified SDKs and body', () => {
    const operation = document.paths['/v1/sdk-licenses/{sdk}']?.post;
    const sdk = operation?.parameters?.find(({ name }) => name === 'sdk');
    expect(sdk).toMatchObject({ in: 'path', required: true, schema: { enum: SDK_NAMES } });
    expect(operation?.requestBody).toMatchObject({ required: false });
    expect(operation?.requestBody?.content['application/json']?.schema).toMatchObject({
      additionalProperties: false,
      properties: { regenerate: { type: 'boolean', default: false } },
    });
    expect(operation?.requestBody?.content['application/json']?.schema).not.toHaveProperty('required');
  });

  it('POST /v1/sdk-licenses/{sdk} returns 200 with Cache-Control: no-store, with and without a body', async () => {
    const { keys } = await subscriber(1);
    const bare = await api.call('/v1/sdk-licenses/player', { method: 'POST', key: keys.live });
    expect([bare.status, bare.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    expect((await issue(keys.live)).text).toBe(bare.text);
  });
});

/** Each states the state before and after. */
const ENTERED: Record<(typeof SDK_LICENSE_TRANSITIONS)[number]['by'], () => Promise<unknown[]>> = {
  'an issue': async () => {
    const { keys } = await subscriber(1);
    return [await stateOf(keys.live), (await issue(keys.live)).json.state];
  },
  "the paid period's end": async () => {
    const { keys } = await subscriber(1);
    const { state } = (await issue(keys.live)).json;
    now = PERIOD.paidUntil;
    return [state, await stateOf(keys.live)];
  },
  'the next issue in a paid period': async () => {
    const { keys } = await subscriber(1);
    await issue(keys.live);
    now = IN_NEXT_PERIOD;
    return [await stateOf(keys.live), (await issue(keys.live)).json.state];
  },
};

const stateOf = async (key: string) => (await api.call('/v1/sdk-licenses/player', { key })).json.state;

describe('Transition', () => {
  it.each(SDK_LICENSE_TRANSITIONS)('an SDK licence goes from $from to $to by $by', async ({ from, to, by }) => {
    now = IN_PERIOD;
    expect(await ENTERED[by]().finally(() => (now = IN_PERIOD))).toEqual([from, to]);
  });
});

const PROVOKED: Record<(typeof SDK_LICENSE_ERROR_ROWS)[number]['code'], () => Promise<Answer>> = {
  parameter_invalid: async () => issue((await subscriber(1)).keys.live, 'camera'),
  malformed_request: async () => issue((await subscriber(1)).keys.live, 'player', '{'),
  scope_not_granted: async () => {
    const { organizationId } = await subscriber(1);
    return issue((await createKey(api.orm, organizationId, 'live', { scopes: [WILDCARD_SCOPE] })).secret);
  },
  license_environment_forbidden: async () => issue((await subscriber(1)).keys.test),
  subscription_unpaid: async () => issue((await createCustomer(api.orm)).keys.live),
  sdk_quota_exceeded: async () => issue((await subscriber(0)).keys.live),
  sdk_license_not_current: async () => issue((await subscriber(1)).keys.live, 'player', '{"regenerate":true}'),
  license_signing_unconfigured: async () => {
    Object.assign(used, unconfigured);
    return issue((await subscriber(1)).keys.live).finally(() => Object.assign(used, signing));
  },
};

describe('Error', () => {
  it.each(SDK_LICENSE_ERROR_ROWS)(
    'the issue of an SDK licence returns $status for $condition',
    async ({ status, code }) => {
      const answer = await PROVOKED[code]();
      expect([answer.status, answer.error.code]).toEqual([status, code]);
      expect(ERRORS[code].status).toBe(status);
    },
  );
});
