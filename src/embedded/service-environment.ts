/** Settings of the processes of one service, derived from its description and its data folder. */
import { join } from 'node:path';
import type { DevelopmentSecrets } from './development-secrets.ts';
import { CONSOLE_CLIENT_ID, type IdentityProviderSettings } from './identity-provider.ts';
import { developmentSigningKeys } from './license-signing-keys.ts';
import type { ServiceDescription } from './service-description.ts';
import { LOOPBACK } from './service-ports.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';
import type { EmbeddedSettings } from './settings.ts';

const TOKEN_AUDIENCE = 'vehicle-inference-service';
/** `scripts/` seal with this key, since they know no data folder. The service only opens with it. */
const SCRIPTS_SEALING_KEY = 'development';

export const storageDirectoryOf = (dataDirectory: string) => join(dataDirectory, 'storage');

export const consoleUrlOf = (apiUrl: string) => `${apiUrl}/console`;

export const jwksUrlOf = (issuer: string) => `${issuer}/jwks`;

/** Environment of the API and the workers. */
export function processEnvironmentOf(
  { dataDirectory, apiHost, environment }: EmbeddedSettings,
  description: ServiceDescription,
  { apiPort, sealingKey }: { apiPort: number; sealingKey: DevelopmentSecrets['sealingKey'] },
): NodeJS.ProcessEnv {
  return {
    // First the defaults that a developer may override.
    LOG_LEVEL: 'info',
    MODELS_DIRECTORY: join(PROJECT_DIRECTORY, 'models'),
    LICENSE_SIGNING_KEYS: developmentSigningKeys(join(dataDirectory, 'license-signing-keys.json')),
    SECRET_SEALING_KEYS: `${sealingKey},${SCRIPTS_SEALING_KEY}`,
    MANAGEMENT_JWT_ISSUER: description.identity.issuer,
    MANAGEMENT_JWT_AUDIENCE: TOKEN_AUDIENCE,
    MANAGEMENT_JWKS_URL: jwksUrlOf(description.identity.issuer),
    CONSOLE_CLIENT_ID,
    CONSOLE_AUTHORIZATION_URL: `${description.identity.issuer}/auth`,
    CONSOLE_TOKEN_URL: description.identity.tokenUrl,
    CONSOLE_TEMPORAL_URL: description.temporalWebUrl ?? '',
    ...environment,
    SERVICE_ENVIRONMENT: 'development',
    DATABASE_URL: description.databaseUrl,
    TEMPORAL_ADDRESS: description.temporalAddress,
    TEMPORAL_NAMESPACE: description.temporalNamespace,
    API_HOST: apiHost,
    API_PORT: String(apiPort),
    PUBLIC_BASE_URL: description.apiUrl,
    STORAGE_DIRECTORY: storageDirectoryOf(dataDirectory),
    // A laptop's own receivers have private addresses.
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
  };
}

export function identityProviderSettingsOf(
  { organizationId, apiUrl, identity: { issuer } }: ServiceDescription,
  port: number,
  { users, clientSecret, password, tokenSigningKey }: DevelopmentSecrets,
): IdentityProviderSettings {
  return {
    host: LOOPBACK,
    port,
    issuer,
    audience: TOKEN_AUDIENCE,
    organizationId,
    users,
    clientSecret,
    password,
    consoleUrl: consoleUrlOf(apiUrl),
    tokenSigningKey,
  };
}
