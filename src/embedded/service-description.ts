/** Describes a running service to its tools. */
import { writeFileSync } from 'node:fs';

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
  /** `tokenUrl` issues a token of any role for the secret. */
  identity: { issuer: string; tokenUrl: string; clientSecret: string };
  /** Metrics URLs by process; empty without `METRICS_ADDRESS`. */
  metrics: Record<string, string[]>;
}

/** Writes JSON that only this user may read. */
export function writeSecretFile(path: string, content: unknown): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}
