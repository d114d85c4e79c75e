/** Tokens of an identity provider whose keys come over HTTP: fetched seldom, renewed in time, never trusted too far. */
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, type JWTPayload, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authenticateMember, type IdentityProvider } from '../../../src/api/management/authenticate-member.ts';
import { createProviderKeys, PROVIDER_KEYS } from '../../../src/api/management/provider-keys.ts';
import { newId } from '../../../src/platform/ids.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';

const ISSUER = 'https://identity.example';
const AUDIENCE = 'vehicle-inference-service';
const SECOND_MS = 1000;
const { cooldownMs, staleAfterMs, renewAfterMs, expiresAfterMs } = PROVIDER_KEYS;

interface Signer {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JWK;
}

const newSigner = (kid: string): Signer => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, ...pair, jwk: { ...(pair.publicKey.export({ format: 'jwk' }) as JWK), kid, alg: 'ES256' } };
};

let server: Server;
let fetches: number;
/** The provider's response. */
let serve: object | ((response: ServerResponse) => void);
let nowMs: number;
let provider: IdentityProvider;
let first: Signer;

beforeEach(async () => {
  first = newSigner('first');
  fetches = 0;
  serve = { keys: [first.jwk] };
  nowMs = Date.parse('2026-12-01T12:00:00.000Z');
  server = createServer((_request, response) => {
    fetches += 1;
    if (typeof serve === 'function') serve(response);
    else response.setHeader('Content-Type', 'application/json').end(JSON.stringify(serve));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  provider = { issuer: ISSUER, audience: AUDIENCE, keys: createProviderKeys(url, () => new Date(nowMs)) };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const fail = (response: ServerResponse) => response.writeHead(500).end();
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: newId('user'),
  org_id: newId('organization'),
  role: 'owner',
  iat: Math.floor(nowMs / SECOND_MS),
  exp: Math.floor(nowMs / SECOND_MS) + 300,
  ...changes,
});
const sign = ({ kid, privateKey }: Signer, changes?: JWTPayload) =>
  new SignJWT(claims(changes)).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);

/** `in`, or the code of the refusal. */
async function present(token: string): Promise<string> {
  try {
    await authenticateMember(`Bearer ${token}`, provider, new Date(nowMs));
    return 'in';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}
const enter = async (signer: Signer, changes?: JWTPayload) => present(await sign(signer, changes));

describe('provider keys', () => {
  it('provider keys are fetched once, with the first token, even for concurrent requests', async () => {
    expect(fetches).toBe(0);
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => enter(first))))).toEqual(new Set(['in']));
    nowMs += renewAfterMs - 1;
    expect(await enter(first)).toBe('in');
    expect(fetches).toBe(1);
  });

  it('provider keys are renewed by the first token that names a new one', async () => {
    expect(await enter(first)).toBe('in');
    const second = newSigner('second');
    serve = { keys: [first.jwk, second.jwk] };
    nowMs += cooldownMs;
    const entered = await Promise.all([enter(second), enter(first), enter(second), enter(second)]);
    expect([...entered, fetches]).toEqual(['in', 'in', 'in', 'in', 2]);
  });

  it('provider keys published within the cooldown give 503 first, and are accepted after it', async () => {
    expect(await enter(first)).toBe('in');
    const second = newSigner('second');
    serve = { keys: [second.jwk] };
    nowMs += 12 * SECOND_MS;
    const refused = await authenticateMember(`Bearer ${await sign(second)}`, provider, new Date(nowMs)).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '18' } });
    nowMs += 18 * SECOND_MS;
    expect([await enter(second), fetches]).toEqual(['in', 2]);
  });

  it('provider keys are fetched at most once per cooldown, whatever unknown keys tokens name', async () => {
    expect(await enter(first)).toBe('in');
    for (let step = 1; step <= 60; step += 1) {
      nowMs += SECOND_MS;
      const flood = Array.from({ length: 5 }, (_, index) => enter(newSigner(`unknown-${step}-${index}`)));
      // What the provider was asked about is told for certain; the others may name a key that is newer than the copy.
      const outcome = (step * SECOND_MS) % cooldownMs === 0 ? 'invalid_token' : 'service_unavailable';
      expect([step, new Set(await Promise.all(flood))]).toEqual([step, new Set([outcome])]);
    }
    expect(fetches).toBe(3);
    expect(await enter(first)).toBe('in');
  });

  it('provider keys are fetched at most once per cooldown while fetching fails, from the start', async () => {
    serve = fail;
    for (let step = 0; step < 60; step += 1) {
      expect(await enter(first)).toBe('service_unavailable');
      nowMs += SECOND_MS;
    }
    expect(fetches).toBe(2);
    serve = { keys: [first.jwk] };
    expect(await enter(first)).toBe('in');
  });

  it('provider keys that were removed are refused once the copy is stale', async () => {
    expect(await enter(first)).toBe('in');
    const second = newSigner('second');
    serve = { keys: [second.jwk] };
    nowMs += staleAfterMs;
    expect(await enter(first)).toBe('invalid_token');
    expect(await enter(second)).toBe('in');
  });

  it('provider keys are renewed in the background before the copy is stale', async () => {
    expect(await enter(first)).toBe('in');
    let answer = () => {};
    serve = (response) => {
      answer = () => response.end(JSON.stringify({ keys: [first.jwk] }));
    };
    nowMs += renewAfterMs;
    // The provider has not responded yet.
    expect(await enter(first)).toBe('in');
    answer();
  });

  it.each([
    ['fails', fail],
    ['returns no keys', { keys: [] }],
    ['returns something else', { error: 'maintenance' }],
    ['returns malformed keys', { keys: ['x'] }],
    ['sends elsewhere', (response: ServerResponse) => response.writeHead(302, { Location: '/other' }).end()],
  ])('provider keys stay in use until they expire while the provider %s', async (_how, answer) => {
    expect(await enter(first)).toBe('in');
    serve = answer;
    for (const ageMs of [renewAfterMs, staleAfterMs, staleAfterMs + cooldownMs, expiresAfterMs - 1]) {
      nowMs = Date.parse('2026-12-01T12:00:00.000Z') + ageMs;
      expect([ageMs, await enter(first)]).toEqual([ageMs, 'in']);
    }
    nowMs += 1;
    expect(await enter(first)).toBe('service_unavailable');
    serve = { keys: [first.jwk] };
    nowMs += cooldownMs;
    expect(await enter(first)).toBe('in');
  });

  it('provider keys that cannot be fetched give a Retry-After', async () => {
    serve = fail;
    await enter(first);
    nowMs += 10 * SECOND_MS;
    const refused = await authenticateMember(`Bearer ${await sign(first)}`, provider, new Date(nowMs)).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '20' } });
  });

  it('provider keys that could not be renewed leave open whether an unknown one is valid', async () => {
    expect(await enter(first)).toBe('in');
    serve = fail;
    nowMs += cooldownMs;
    expect(await enter(newSigner('second'))).toBe('service_unavailable');
    expect(await enter(first)).toBe('in');
  });
});

describe('tokens refused by their content', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

  it('a token that is not signed is refused', async () => {
    const token = `${encode({ alg: 'none' })}.${encode(claims())}.`;
    expect(await present(token)).toBe('invalid_token');
    expect(await present(token.replace(/\.$/, '.c2ln'))).toBe('invalid_token');
  });

  it('a token signed with the public key as a shared secret is refused', async () => {
    const pem = first.publicKey.export({ type: 'spki', format: 'pem' });
    const { x = '' } = first.jwk;
    for (const secret of [pem, JSON.stringify(first.jwk), x]) {
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS512', 'sha512'],
      ] as const) {
        const content = `${encode({ alg, kid: first.kid })}.${encode(claims())}`;
        const signature = createHmac(hash, secret).update(content).digest('base64url');
        expect(await present(`${content}.${signature}`)).toBe('invalid_token');
      }
    }
  });

  it('a token that brings its own key or the URL of one is refused', async () => {
    const own = newSigner(first.kid);
    const address = server.address() as AddressInfo;
    for (const header of [{ jwk: own.jwk }, { jku: `http://127.0.0.1:${address.port}/own` }]) {
      const token = new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid: own.kid, ...header });
      expect(await present(await token.sign(own.privateKey))).toBe('invalid_token');
    }
  });

  it('a token that was changed after signing is refused', async () => {
    const [header, , signature] = (await sign(first, { role: 'member' })).split('.');
    expect(await present(`${header}.${encode(claims())}.${signature}`)).toBe('invalid_token');
  });

  it('a token whose algorithm does not match the key is refused', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const token = new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: first.kid });
    expect(await present(await token.sign(rsa.privateKey))).toBe('invalid_token');
  });

  it.each([
    ['of another issuer', { iss: `${ISSUER}/` }],
    ['for another audience', { aud: 'vehicle-inference' }],
    ['without issuer', { iss: undefined }],
    ['without audience', { aud: undefined }],
    ['without expiry', { exp: undefined }],
    ['without time of issue', { iat: undefined }],
    ['without user', { sub: undefined }],
    ['without organisation', { org_id: undefined }],
    ['without role', { role: undefined }],
    ['with several roles', { role: ['owner'] }],
    ['with a role of another spelling', { role: 'Owner' }],
    ['with an invalid organisation id', { org_id: "org_1' or true" }],
  ])('a token %s is refused', async (_name, changes) => {
    expect(await enter(first, changes as JWTPayload)).toBe('invalid_token');
  });

  it.each(['abc', 'a.b.c', '..', 'chk_live_x', `${'a'.repeat(5000)}.b.c`])(
    'a credential that is not a token is refused: %j',
    async (token) => {
      expect(await present(token)).toBe('invalid_token');
      expect(fetches).toBe(0);
    },
  );

  it.each([
    ['an hour', 3_600, 'in'],
    ['a second more than an hour', 3_601, 'invalid_token'],
  ])('a token may be valid for an hour at most: %s', async (_name, seconds, outcome) => {
    const iat = nowMs / SECOND_MS;
    expect(await enter(first, { iat, exp: iat + seconds })).toBe(outcome);
  });

  it.each([
    ['the last second of the tolerance after it expired', { exp: -4 }, 'in'],
    ['the end of that tolerance', { exp: -5 }, 'token_expired'],
    ['the tolerance before it begins', { nbf: 5 }, 'in'],
    ['a second before that', { nbf: 6 }, 'invalid_token'],
    ['the tolerance before it was issued', { iat: 5 }, 'in'],
    ['a second before that, however long it has to go', { iat: 6, exp: 3_606 }, 'invalid_token'],
    ['a day before it was issued', { iat: 86_400, exp: 90_000 }, 'invalid_token'],
  ])('a token is accepted within its times and their tolerance only: %s', async (_name, offsets, outcome) => {
    const now = nowMs / SECOND_MS;
    const times = Object.fromEntries(Object.entries(offsets).map(([claim, offset]) => [claim, now + offset]));
    expect(await enter(first, { iat: now - 60, ...times })).toBe(outcome);
  });
});

it('a token for several audiences is accepted when this service is one of them', async () => {
  expect(await enter(first, { aud: ['other', AUDIENCE] })).toBe('in');
});
