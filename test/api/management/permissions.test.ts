/** Every operation of the management API, asked by everybody: each role, no role, another organisation, an API key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../src/api/management/operations.ts';
import { buildOpenApi } from '../../../src/api/openapi/document.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { ROLES, type Role } from '../../../src/organizations/roles.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../../support/customers.ts';
import { type ManagementCall, managing } from '../../support/management.ts';
import type { OpenApiDocument } from '../../support/openapi-check.ts';
import { read } from '../../support/requests.ts';

const EVERYONE = [...ROLES];
const BUILDERS: Role[] = ['owner', 'admin', 'member'];
const ADMINISTRATORS: Role[] = ['owner', 'admin'];
const MONEY_READERS: Role[] = ['owner', 'admin', 'billing_manager'];

/** Who may do what. Written down a second time: an operation that is not here, or that lets in others, fails. */
const EXPECTED: Record<string, Role[]> = {
  getMember: EVERYONE,
  listOrganizationEndpoints: BUILDERS,
  getOrganization: BUILDERS,
  updateOrganization: ADMINISTRATORS,
  listApiKeyScopes: ADMINISTRATORS,
  listApiKeys: BUILDERS,
  getApiKey: BUILDERS,
  // For test keys; only administrators may for live keys, as api-keys.test.ts proves.
  createApiKey: BUILDERS,
  updateApiKey: BUILDERS,
  rotateApiKey: BUILDERS,
  revokeApiKey: BUILDERS,
  listWebhookEndpoints: BUILDERS,
  getWebhookEndpoint: BUILDERS,
  createWebhookEndpoint: ADMINISTRATORS,
  updateWebhookEndpoint: ADMINISTRATORS,
  deleteWebhookEndpoint: ADMINISTRATORS,
  enableWebhookEndpoint: ADMINISTRATORS,
  rotateWebhookSecret: ADMINISTRATORS,
  testWebhookEndpoint: ADMINISTRATORS,
  listWebhookDeliveries: BUILDERS,
  getWebhookDelivery: BUILDERS,
  getWebhookDeliveryBody: BUILDERS,
  replayWebhookDelivery: ADMINISTRATORS,
  replayFailedWebhookDeliveries: ADMINISTRATORS,
  listOrganizationJobs: BUILDERS,
  getOrganizationJob: BUILDERS,
  listOrganizationJobFiles: BUILDERS,
  listOrganizationJobEvents: BUILDERS,
  getUsage: EVERYONE,
  getCredits: EVERYONE,
  listCreditTransfers: EVERYONE,
  updateCredits: ADMINISTRATORS,
  topUpCredits: ADMINISTRATORS,
  listPrices: MONEY_READERS,
  listStatements: MONEY_READERS,
  getStatement: MONEY_READERS,
  listSdkLicenses: EVERYONE,
  listAuditLogEntries: ADMINISTRATORS,
};

/** Bodies of operations on one thing that must have one. */
const BODIES: Record<string, object> = { replayFailedWebhookDeliveries: { since: 1_700_000_000 } };

let api: TestApi;
let customer: Customer;
let other: Customer;
/** A thing of the other organisation, by the start of its path. */
let foreign: Record<string, string>;

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
  other = await createCustomer(api.orm);
  foreign = {
    '/api-keys': other.keyIds.live,
    '/webhook-endpoints': (await createWebhookEndpoint(api.orm, other.organizationId)).id,
    '/jobs': (await read(api, { key: other.keys.test })).job.id,
  };
});
afterAll(() => api.close());

const pathOf = (path: string, id: string) =>
  path
    .replace('/mgmt/v1', '')
    .replace('{id}', id)
    .replace('{month}', '2026-11')
    .replaceAll(/\{\w+\}/g, 'whd_11111111');
const callOf = (method: string, body: object = {}): ManagementCall =>
  method === 'get' ? {} : { method: method.toUpperCase(), body };

it('every operation is in the table of permissions', () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  for (const { path } of operations) expect(path).toMatch(/^\/mgmt\/v1\/[a-z]/);
});

describe.each(operations.map(({ id, method, path }) => ({ id, method, path })))('$id', ({ id, method, path }) => {
  const ask = (call: ManagementCall) =>
    managing(api, customer.organizationId)(pathOf(path, newId('apiKey')), { ...callOf(method), ...call });

  it.each(ROLES)(`the operation ${id} follows the table of permissions for the role %s`, async (role) => {
    const { status, text } = await ask({ role });
    if (EXPECTED[id]?.includes(role)) {
      expect([401, 403]).not.toContain(status);
      expect(status).toBeLessThan(500);
    } else {
      expect(status).toBe(403);
      expect(JSON.parse(text).error.code).toBe('role_not_permitted');
    }
  });

  it(`the operation ${id} refuses a token without a role, an API key and a request without either`, async () => {
    const asked = (key?: string) =>
      api.call(`/mgmt/v1${pathOf(path, newId('apiKey'))}`, {
        method: method.toUpperCase(),
        ...(key !== undefined && { key }),
      });
    const refusals = [
      await asked(await api.identity.token({}, { claims: { role: undefined } })),
      await asked(customer.keys.live),
      await asked(customer.keys.test),
      await asked(),
    ];
    expect(refusals.map(({ status, error }) => [status, error.code])).toEqual([
      [401, 'invalid_token'],
      [401, 'invalid_token'],
      [401, 'invalid_token'],
      [401, 'missing_token'],
    ]);
  });
});

const onOneThing = operations
  .filter(({ path }) => path.includes('{id}'))
  .map(({ id, method, path }) => ({ id, method, path }));

describe.each(onOneThing)('$id of another organisation', ({ id, method, path }) => {
  it(`the operation ${id} on something of another organisation gets the same response as for an unknown id`, async () => {
    const theirs = Object.entries(foreign).find(([start]) => path.startsWith(`/mgmt/v1${start}/`))?.[1];
    if (theirs === undefined) throw new Error(`the test has nothing of another organisation for ${path}`);
    const answerFor = async (target: string) => {
      const { status, text } = await managing(api, customer.organizationId)(
        pathOf(path, target),
        callOf(method, BODIES[id]),
      );
      return { status, text: text.replaceAll(target, '<id>').replace(/req_\w+/, '<request>') };
    };
    const unknown = await answerFor(`${theirs.slice(0, 4)}11111111111111111111aa`);
    expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('resource_not_found') });
    expect(await answerFor(theirs)).toEqual(unknown);
  });
});

describe('a token of an owner', () => {
  const document = JSON.parse(JSON.stringify(buildOpenApi(endpoints, 'https://api.example'))) as OpenApiDocument;
  const documented = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, 'player'),
        takesKeys: (operation as { security?: object[] }).security?.length !== 0,
      })),
    );

  it('a token of an owner is refused on every path of the inference API', async () => {
    expect(documented.length).toBeGreaterThan(30);
    const key = await api.identity.token({ organizationId: customer.organizationId });
    for (const { method, path, takesKeys } of documented) {
      const { status, error } = await api.call(path, { method, key });
      const code = takesKeys ? 'invalid_api_key' : error.code;
      expect({ method, path, status, code: error.code }).toEqual({
        method,
        path,
        status: takesKeys ? 401 : status,
        code,
      });
      expect(status).toBeGreaterThanOrEqual(400);
    }
  });
});
