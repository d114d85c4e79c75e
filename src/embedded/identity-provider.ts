/**
 * The development identity provider issues a token of any role to any client with the secret of the data folder. On a laptop it
 * replaces the organisation's own authentication service; nothing outside this folder can start it.
 */
import { createHash, type JsonWebKey } from 'node:crypto';
import Provider, { type Configuration } from 'oidc-provider';
import { ROLES, type Role } from '../organizations/roles.ts';

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
  /** Private. */
  tokenSigningKey: JsonWebKey;
}

const ALGORITHM = 'ES256';
const TOKEN_LIFE_SECONDS = 300;

/** Has one client for each role: `grant_type=client_credentials` with the role's name and the secret returns a token. */
export function createIdentityProvider(settings: IdentityProviderSettings): Provider {
  const { issuer, audience, organizationId, users, clientSecret, tokenSigningKey } = settings;
  const { x, y } = tokenSigningKey;
  const kid = createHash('sha256').update(`${x}.${y}`).digest('base64url').slice(0, 16);
  const resource = `urn:${audience}`;
  const configuration: Configuration = {
    jwks: { keys: [{ ...tokenSigningKey, kid, use: 'sig', alg: ALGORITHM }] },
    clientDefaults: { id_token_signed_response_alg: ALGORITHM },
    clients: ROLES.map((role) => ({
      client_id: role,
      client_secret: clientSecret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    clientBasedCORS: () => true,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
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
          const role = ROLES.find((known) => known === token.clientId);
          if (!role) throw new Error('a token of an unknown client');
          Object.assign(payload, { sub: users[role], org_id: organizationId, role });
        },
      },
    },
  };
  return new Provider(issuer, configuration);
}
