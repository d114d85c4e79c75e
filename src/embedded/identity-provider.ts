/**
 * The development identity provider issues a token of any role to any client with the secret of the data folder, and signs
 * people into the console with the password of that folder. On a laptop it replaces the organisation's own authentication
 * service; nothing outside this folder can start it.
 */
import { createHash, type JsonWebKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { ROLES, type Role } from '../organizations/roles.ts';
import { TOKEN_LIFE_SECONDS } from './service-description.ts';
import { renderSignInPage, SIGN_IN_POLICY } from './sign-in-page.ts';

export interface IdentityProviderSettings {
  host: string;
  port: number;
  /** Its own address, and the `iss` of its tokens. */
  issuer: string;
  /** The `aud` of its tokens. */
  audience: string;
  /** The `org_id` of its tokens. */
  organizationId: string;
  /** The `sub` of its tokens, by role. */
  users: Record<Role, string>;
  clientSecret: string;
  /** Of every user on the sign-in page. */
  password: string;
  /** The address of the console, to which the sign-in leads back. */
  consoleUrl: string;
  /** Private. */
  tokenSigningKey: JsonWebKey;
}

/** The console at this provider: a client without a secret. */
export const CONSOLE_CLIENT_ID = 'console';

const ALGORITHM = 'ES256';
const SIGN_IN = /^\/sign-in\/[\w-]{1,64}$/;
/** Of a form with a role and a password. */
const LARGEST_FORM_BYTES = 4_096;

/**
 * Has one client for each role, to which `grant_type=client_credentials` with the role's name and the secret returns a token,
 * and the console, whose users sign in as a role.
 */
export function createIdentityProvider(settings: IdentityProviderSettings): Provider {
  const { issuer, audience, organizationId, users, clientSecret, consoleUrl, tokenSigningKey } = settings;
  const { x, y } = tokenSigningKey;
  const kid = createHash('sha256').update(`${x}.${y}`).digest('base64url').slice(0, 16);
  const resource = `urn:${audience}`;
  const configuration: Configuration = {
    jwks: { keys: [{ ...tokenSigningKey, kid, use: 'sig', alg: ALGORITHM }] },
    clientDefaults: { id_token_signed_response_alg: ALGORITHM },
    clients: [
      ...ROLES.map((role) => ({
        client_id: role,
        client_secret: clientSecret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post' as const,
      })),
      {
        client_id: CONSOLE_CLIENT_ID,
        grant_types: ['authorization_code'],
        redirect_uris: spellingsOf(consoleUrl).map((url) => `${url}/callback`),
        response_types: ['code' as const],
        token_endpoint_auth_method: 'none' as const,
      },
    ],
    clientBasedCORS: () => true,
    cookies: { keys: [createHash('sha256').update(`cookies ${clientSecret}`).digest('base64url')] },
    pkce: { required: () => true },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: users[accountId as Role] ?? accountId }),
    }),
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    // Nobody has to agree: the console is a part of the service.
    async loadExistingGrant({ oidc }: KoaContextWithOIDC) {
      const { client, session, provider } = oidc;
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: TOKEN_LIFE_SECONDS,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALGORITHM } },
        }),
      },
    },
    formats: {
      customizers: {
        jwt(_context, token, { payload }) {
          const accountId = 'accountId' in token ? token.accountId : undefined;
          const name = token.clientId === CONSOLE_CLIENT_ID ? accountId : token.clientId;
          const role = ROLES.find((known) => known === name);
          if (!role) throw new Error('a token of an unknown client');
          Object.assign(payload, { sub: users[role], org_id: organizationId, role });
        },
      },
    },
  };
  const provider = new Provider(issuer, configuration);
  provider.use(async (context, next) => {
    if (!SIGN_IN.test(context.path)) return next();
    const { req, res } = context;
    let problem: string | null = null;
    let role: (typeof ROLES)[number] | undefined;
    if (context.method === 'POST') {
      const form = await readForm(req);
      role = ROLES.find((known) => known === form.get('role'));
      if (role && isSame(form.get('password') ?? '', settings.password)) {
        context.respond = false;
        await provider.interactionFinished(req, res, { login: { accountId: role } });
        return;
      }
      problem = 'This is not the password that `npm start` printed.';
    }
    // Refuses a page that was not opened by a request of the console.
    await provider.interactionDetails(req, res);
    context.status = problem === null ? 200 : 400;
    context.type = 'text/html; charset=utf-8';
    context.set('Content-Security-Policy', SIGN_IN_POLICY);
    context.set('Cache-Control', 'no-store');
    context.body = renderSignInPage(problem, role);
  });
  return provider;
}

/** Both names of this machine lead to the console. */
function spellingsOf(url: string): string[] {
  return [...new Set([url, url.replace('//127.0.0.1:', '//localhost:'), url.replace('//localhost:', '//127.0.0.1:')])];
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const part of request) {
    text += String(part);
    if (text.length > LARGEST_FORM_BYTES) throw new Error('the form is too large');
  }
  return new URLSearchParams(text);
}

function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
