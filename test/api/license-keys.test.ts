/** Signing keys of SDK licences: none, rotation, and the published key set. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LicenseSigningKey } from '../../src/platform/config/license-signing-keys.ts';
import { createLicenseSigning } from '../../src/sdk-licenses/license-signing.ts';
import type { renderSdkEntitlement } from '../../src/sdk-licenses/sdk-licenses.ts';
import { setPaidPeriod } from '../../src/sdk-licenses/sdk-subscriptions-store.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { newLicenseKey, verifyProof } from '../support/license-keys.ts';
import { expectRefusal } from '../support/requests.ts';

const now = new Date('2027-03-10T12:00:00.000Z');
const older = newLicenseKey('2026');
const newer = newLicenseKey('2027');
const publicPart = ({ kid, x }: LicenseSigningKey): LicenseSigningKey => ({ kid, x });

const signing = createLicenseSigning([], PUBLIC_BASE_URL);
let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now, licenseSigning: signing });
  customer = await createCustomer(api.orm);
  await setPaidPeriod(api.orm.em.fork(), customer.organizationId, {
    paidFrom: new Date('2027-03-01T00:00:00Z'),
    paidUntil: new Date('2027-04-01T00:00:00Z'),
    maxSdks: 1,
  });
});
afterAll(() => api.close());

/** As after a restart with other keys. */
function configure(...keys: LicenseSigningKey[]): void {
  Object.assign(signing, createLicenseSigning(keys, PUBLIC_BASE_URL));
}

async function issue(body = '{}'): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const key = customer.keys.live;
  const answer = await api.call('/v1/sdk-licenses/player', { method: 'POST', key, headers, body });
  expect(answer.status).toBe(200);
  const { license } = JSON.parse(answer.text) as ReturnType<typeof renderSdkEntitlement>;
  return license?.proof ?? '';
}

const published = async () => (await api.call('/.well-known/jwks.json')).json;

it('without a signing key no licence is issued and no key is published', async () => {
  configure();
  const unpaid = await createCustomer(api.orm);
  for (const key of [customer.keys.live, unpaid.keys.live]) {
    await expectRefusal(api, () => api.call('/v1/sdk-licenses/player', { method: 'POST', key }), {
      code: 'license_signing_unconfigured',
    });
  }
  expect(await published()).toEqual({ keys: [] });
});

describe('a rotation', () => {
  it('a rotation publishes the new key before it signs, and old proofs stay verifiable', async () => {
    configure(older);
    const first = await issue();
    const before = await published();

    configure(older, publicPart(newer));
    expect(await issue()).toBe(first);
    const announced = await published();

    configure(newer, publicPart(older));
    expect(await issue()).toBe(first);
    const second = await issue('{"regenerate":true}');
    const rotated = await published();
    expect((await verifyProof(first, rotated, now)).protectedHeader.kid).toBe('2026');
    expect((await verifyProof(second, rotated, now)).protectedHeader.kid).toBe('2027');
    // A client that fetched the keys before the rotation can verify proofs of the new key.
    await verifyProof(second, announced, now);
    await expect(verifyProof(second, before, now)).rejects.toThrow('no applicable key');

    configure(newer);
    await verifyProof(second, await published(), now);
    await expect(verifyProof(first, await published(), now)).rejects.toThrow('no applicable key');
  });

  it('a rotation to a different key of the same name is detected', async () => {
    configure(newer);
    const proof = await issue('{"regenerate":true}');
    configure(newLicenseKey('2027'));
    await expect(verifyProof(proof, await published(), now)).rejects.toThrow('signature');
  });
});

it('the published licence keys have no private part, need no API key and are cacheable', async () => {
  configure(newer, older);
  const answer = await api.call('/.well-known/jwks.json');
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
  expect(answer.json).toEqual({
    keys: [newer, older].map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x })),
  });
});
