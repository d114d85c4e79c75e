/** Tokens of the development identity provider, as `npm start` offers them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticateMember } from '../../src/api/management/authenticate-member.ts';
import { readDevelopmentSecrets } from '../../src/embedded/development-secrets.ts';
import { CONSOLE_CLIENT_ID, createIdentityProvider } from '../../src/embedded/identity-provider.ts';
import { TOKEN_LIFE_SECONDS } from '../../src/embedded/service-description.ts';
import { describeService } from '../../src/embedded/welcome.ts';
import { newId } from '../../src/platform/ids.ts';
import { readDocument } from '../docs/snippets.ts';

const AUDIENCE = 'vehicle-inference-service';
const CONSOLE_URL = 'http://127.0.0.1:8080/console';
const organizationId = newId('organization');
const folder = mkdtempSync(join(tmpdir(), 'identity-'));
const secrets = readDevelopmentSecrets(join(folder, 'secrets.json'));
let handle: ReturnType<ReturnType<typeof createIdentityProvider>['callback']>;
let server: Server;
let issuer: string;

beforeAll(async () => {
  server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  issuer = `http://127.0.0.1:${port}`;
  const provider = createIdentityProvider({
    host: '127.0.0.1',
    port,
    issuer,
    audience: AUDIENCE,
    organizationId,
    consoleUrl: CONSOLE_URL,
    ...secrets,
  });
  handle = provider.callback();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.closeAllConnections();
  server.close();
});

async function tokenOf(role: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: role,
    client_secret: secrets.clientSecret,
  });
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

it('a token is accepted by the management API until the end of the time that the documentation states', async () => {
  const token = await tokenOf('admin');
  const { iat = 0, exp = 0 } = decodeJwt(token);
  expect(exp - iat).toBe(TOKEN_LIFE_SECONDS);
  const keys = createLocalJWKSet((await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet);
  const check = (atSeconds: number) =>
    authenticateMember(`Bearer ${token}`, { issuer, audience: AUDIENCE, keys }, new Date(atSeconds * 1_000));
  const member = { userId: secrets.users.admin, organizationId, role: 'admin' };
  expect(await check(iat)).toEqual(member);
  expect(await check(exp - 1)).toEqual(member);
  await expect(check(exp + 60)).rejects.toMatchObject({ code: 'token_expired' });
});

it('the text of npm start, the README and the page of the management API state how long a token is accepted', () => {
  const text = describeConsole();
  for (const stated of [text, readDocument('README.md'), readDocument('docs/management.md')]) {
    expect(stated.replace(/\s+/g, ' ')).toContain(`valid for ${TOKEN_LIFE_SECONDS / 60} minutes`);
  }
});

it('the text of npm start names the console and its password', () => {
  expect(describeConsole()).toContain(`${CONSOLE_URL}  password ${secrets.password}`);
});

describe('the sign-in page', () => {
  it('the sign-in page gives the console a token of the chosen role for the password, by code with PKCE', async () => {
    const { code, verifier } = await signIn({ role: 'member', password: secrets.password });
    const token = String((await exchange(code, verifier)).access_token);
    expect(decodeJwt(token)).toMatchObject({
      sub: secrets.users.member,
      org_id: organizationId,
      role: 'member',
      aud: AUDIENCE,
    });
  });

  it('the sign-in page refuses another password, another verifier and another address', async () => {
    expect(await signIn({ role: 'owner', password: 'guessed' })).toEqual({ code: null, verifier: expect.any(String) });
    const { code } = await signIn({ role: 'owner', password: secrets.password });
    expect(await exchange(code, 'v'.repeat(43))).toMatchObject({ error: 'invalid_grant' });
    const elsewhere = await fetch(authorizationUrl('https://elsewhere.example/console/callback', 'v'), {
      redirect: 'manual',
    });
    expect([elsewhere.status, elsewhere.headers.get('Location')]).toEqual([400, null]);
  });
});

function authorizationUrl(redirectUri: string, verifier: string): string {
  const parameters = {
    response_type: 'code',
    client_id: CONSOLE_CLIENT_ID,
    redirect_uri: redirectUri,
    state: 'state',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  return `${issuer}/auth?${new URLSearchParams(parameters).toString()}`;
}

/** As a browser without scripts: follows the redirects with their cookies. The code is null when the page is shown again. */
async function signIn(form: { role: string; password: string }): Promise<{ code: string | null; verifier: string }> {
  const verifier = 'verifier'.repeat(6);
  const cookies = new Map<string, string>();
  const visit = async (url: string, init: RequestInit = {}) => {
    const headers = { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return new URL(response.headers.get('Location') ?? url, issuer);
  };
  const page = await visit(authorizationUrl(`${CONSOLE_URL}/callback`, verifier));
  let next = await visit(page.href, { method: 'POST', body: new URLSearchParams(form) });
  while (next.origin === issuer && next.href !== page.href) next = await visit(next.href);
  return { code: next.searchParams.get('code'), verifier };
}

async function exchange(code: string | null, verifier: string): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: CONSOLE_CLIENT_ID,
    redirect_uri: `${CONSOLE_URL}/callback`,
    code: code ?? '',
    code_verifier: verifier,
  });
  return (await (await fetch(`${issuer}/token`, { method: 'POST', body })).json()) as Record<string, unknown>;
}

function describeConsole(): string {
  return describeService({
    organizationId,
    keys: { live: 'live', staging: 'staging', test: 'test' },
    apiUrl: issuer,
    temporalAddress: '',
    temporalNamespace: '',
    temporalWebUrl: null,
    databaseUrl: '',
    identity: { issuer, tokenUrl: `${issuer}/token`, clientSecret: secrets.clientSecret, password: secrets.password },
    consoleUrl: CONSOLE_URL,
    metrics: {},
  });
}
