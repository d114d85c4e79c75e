/** Describes a running service to its tools. */
import { writeFileSync } from 'node:fs';

/** Life of a token of the development identity provider: the longest that the management API accepts. */
export const TOKEN_LIFE_SECONDS = 3_600;

export interface DevelopmentKeys {
  organizationId: string;
  keys: { live: string; staging: string; test: string };
}

/** Addresses and credentials of a running service; also the content of `service.json` in the data folder, while it runs. */
export interface ServiceDescription extends DevelopmentKeys {
  apiUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  /** Null if the caller runs the Temporal server. */
  temporalWebUrl: string | null;
  databaseUrl: string;
  /** `tokenUrl` issues a token of any role for the secret; the sign-in page takes the password. */
  identity: { issuer: string; tokenUrl: string; clientSecret: string; password: string };
  consoleUrl: string;
  /** Metrics URLs by process; empty without `METRICS_ADDRESS`. */
  metrics: Record<string, string[]>;
}

/** Writes JSON that only this user may read. */
export function writeSecretFile(path: string, content: unknown): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}
