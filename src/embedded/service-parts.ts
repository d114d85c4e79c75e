/** The programs of one service and what they need of each other: ports, addresses, keys, environment. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DevelopmentSecrets, readDevelopmentSecrets } from './development-secrets.ts';
import { type FoundTemporal, findTemporal } from './find-temporal.ts';
import type { IdentityProviderSettings } from './identity-provider.ts';
import { developmentSigningKeys } from './license-signing-keys.ts';
import { chooseMetricsAddresses, type MetricsAddresses, metricsUrls } from './metrics-addresses.ts';
import { choosePort, type PortWish } from './ports.ts';
import { preparePostgres } from './postgres.ts';
import { findOrphans, type ProcessRecord, stopOrphans } from './process-record.ts';
import type { Reporter } from './reporter.ts';
import {
  API_PROCESS,
  IDENTITY_PROVIDER_PROCESS,
  PROJECT_DIRECTORY,
  startApi,
  startIdentityProvider,
  startWorker,
  WORKER_PROCESSES,
} from './service-processes.ts';
import type { EmbeddedSettings } from './settings.ts';
import { Supervised, type SupervisedOptions } from './supervised.ts';
import { ensureNamespace, startTemporal } from './temporal.ts';

export interface DevelopmentKeys {
  organizationId: string;
  keys: { live: string; staging: string; test: string };
}

/** The parts which this folder doesn't own. */
export interface ServiceDependencies {
  migrate: (databaseUrl: string) => Promise<void>;
  seedDevelopment: (databaseUrl: string) => Promise<DevelopmentKeys>;
}

/** Where a running service is and how to get in; also `service.json` of the data folder, while it runs. */
export interface ServiceDescription extends DevelopmentKeys {
  apiUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  /** Null where the Temporal server is the caller's own. */
  temporalWebUrl: string | null;
  databaseUrl: string;
  /** Where a token of a role is to be had for the secret. */
  identity: { issuer: string; tokenUrl: string; clientSecret: string };
  /** By process, where its metrics are; none without `METRICS_ADDRESS`. */
  metrics: Record<string, string[]>;
}

export interface StartOptions {
  settings: EmbeddedSettings;
  dependencies: ServiceDependencies;
  reporter: Reporter;
  /** Ends the start; what was up by then is stopped again. */
  signal: AbortSignal;
  /** Every process of the service, for a stop at once. */
  record: ProcessRecord;
  /** The data is removed afterwards: no waiting for the disk. */
  throwAway?: boolean;
}

const DATABASE = 'vehicle_inference';
const LOOPBACK = '127.0.0.1';
const TOKEN_AUDIENCE = 'vehicle-inference-service';
/** What `scripts/` seal with, which know of no data folder: it opens here, and seals nothing. */
const SCRIPTS_SEALING_KEY = 'development';

/** In the order in which they are stopped: those of one group together, a group after the one before it. */
type Groups = Record<'processes' | 'temporal' | 'postgres', Supervised[]>;

interface Ports {
  api: number;
  temporal: number;
  temporalWeb: number;
  postgres: number;
  identity: number;
}

/** The supervised programs of one service. */
export class ServiceParts {
  readonly failed: Promise<Error>;
  readonly #options: StartOptions;
  readonly #logsDirectory: string;
  #fail: (error: Error) => void = () => {};
  readonly #groups: Groups = { processes: [], temporal: [], postgres: [] };
  /** Ends the starts still under way once one has failed. */
  readonly #abandoned = new AbortController();

  constructor(options: StartOptions) {
    this.#options = options;
    this.#logsDirectory = join(options.settings.dataDirectory, 'logs');
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  async start(): Promise<ServiceDescription> {
    const { settings, reporter, signal } = this.#options;
    await this.#stopOrphans();
    const temporal = await findTemporal({ environment: settings.environment, report: reporter.say, signal });
    const ports = await this.#choosePorts(temporal);
    const metrics = await chooseMetricsAddresses(settings.environment, Object.values(ports));
    const [databaseUrl, temporalAddress] = await this.#together([
      this.#startPostgres(ports.postgres),
      this.#startTemporal(temporal, ports),
    ]);
    const seed = await this.#prepareDatabase(databaseUrl);
    const apiUrl = `http://${settings.apiHost === '0.0.0.0' ? 'localhost' : settings.apiHost}:${ports.api}`;
    const identityUrl = `http://${LOOPBACK}:${ports.identity}`;
    const secrets = readDevelopmentSecrets(join(settings.dataDirectory, 'secrets.json'));
    const description: ServiceDescription = {
      ...seed,
      apiUrl,
      databaseUrl,
      temporalAddress,
      temporalNamespace: settings.environment.TEMPORAL_NAMESPACE || 'default',
      temporalWebUrl: temporal.kind === 'external' ? null : `http://${LOOPBACK}:${ports.temporalWeb}`,
      identity: {
        issuer: identityUrl,
        tokenUrl: `${identityUrl}/token`,
        clientSecret: secrets.clientSecret,
      },
      metrics: metricsUrls(metrics),
    };
    await this.#startProcesses(description, { ports, metrics, secrets });
    return description;
  }

  processIds(): Record<string, number | null> {
    return Object.fromEntries(
      Object.values(this.#groups)
        .flat()
        .map(({ name, pid }) => [name, pid]),
    );
  }

  /** What uses a server stops before the server. */
  async stop(): Promise<void> {
    for (const group of Object.values(this.#groups)) await Promise.all(group.map((part) => part.stop()));
  }

  async #stopOrphans(): Promise<void> {
    const { settings, reporter } = this.#options;
    const orphans = findOrphans(join(settings.dataDirectory, 'processes.json'));
    if (orphans.length === 0) return;
    const names = orphans.map(({ name, pid }) => `${name} (${pid})`).join(', ');
    await reporter.step(`Left running by an earlier, killed start and stopped: ${names}`, () => stopOrphans(orphans));
  }

  async #choosePorts(temporal: FoundTemporal): Promise<Ports> {
    const { settings, reporter } = this.#options;
    const choose = async (wish: PortWish, host: string) => {
      const { port, moved } = await choosePort(wish, host);
      if (moved) reporter.say(`  Port ${wish.defaultPort} is taken; ${wish.what} listens on ${port} instead.`);
      return port;
    };
    const { apiPort, temporalPort, temporalWebPort, postgresPort, identityPort } = settings;
    const own = temporal.kind === 'program';
    const wish = (what: string, variable: string, defaultPort: number, chosenPort: number | undefined) => ({
      what,
      variable,
      defaultPort,
      chosenPort,
    });
    return {
      api: await choose(wish('the API', 'API_PORT', 8080, apiPort), settings.apiHost),
      temporal: own ? await choose(wish('Temporal', 'TEMPORAL_PORT', 7233, temporalPort), LOOPBACK) : 0,
      temporalWeb: own ? await choose(wish('Temporal Web', 'TEMPORAL_WEB_PORT', 8233, temporalWebPort), LOOPBACK) : 0,
      postgres: await choose(wish('PostgreSQL', 'POSTGRES_PORT', 5433, postgresPort), LOOPBACK),
      identity: await choose(wish('the identity provider', 'IDENTITY_PORT', 8081, identityPort), LOOPBACK),
    };
  }

  async #startPostgres(port: number): Promise<string> {
    const { settings, reporter, record, throwAway = false } = this.#options;
    const dataDirectory = join(settings.dataDirectory, 'postgres');
    // Keys of a database that was removed open nothing in the next one.
    if (!existsSync(dataDirectory)) rmSync(this.#keysPath, { force: true });
    return reporter.step(`PostgreSQL at ${LOOPBACK}:${port}`, async () => {
      const logPath = join(this.#logsDirectory, 'postgres.log');
      const server = await preparePostgres({ dataDirectory, port, logPath, database: DATABASE, throwAway, record });
      await this.#supervise('postgres', { name: 'PostgreSQL', start: (signal) => server.start(signal) });
      return server.databaseUrl;
    });
  }

  async #startTemporal(temporal: FoundTemporal, ports: Ports): Promise<string> {
    const { settings, reporter, record } = this.#options;
    if (temporal.kind === 'external') {
      await reporter.step(`Temporal at ${temporal.address} (TEMPORAL_ADDRESS)`, () =>
        ensureNamespace(temporal.address, settings.environment.TEMPORAL_NAMESPACE || 'default'),
      );
      return temporal.address;
    }
    const address = `${LOOPBACK}:${ports.temporal}`;
    const server = {
      executable: temporal.executable,
      port: ports.temporal,
      webPort: ports.temporalWeb,
      databasePath: join(settings.dataDirectory, 'temporal', 'temporal.db'),
      logPath: join(this.#logsDirectory, 'temporal.log'),
      record,
    };
    await reporter.step(`Temporal at ${address}`, () =>
      this.#supervise('temporal', { name: 'Temporal', start: (signal) => startTemporal(server, signal) }),
    );
    return address;
  }

  async #prepareDatabase(databaseUrl: string): Promise<DevelopmentKeys> {
    const { dependencies, reporter, signal } = this.#options;
    signal.throwIfAborted();
    return reporter.step('Database migrated', async () => {
      await dependencies.migrate(databaseUrl);
      if (existsSync(this.#keysPath)) return JSON.parse(readFileSync(this.#keysPath, 'utf8')) as DevelopmentKeys;
      const seed = await dependencies.seedDevelopment(databaseUrl);
      // The database holds only their hashes: without this file nobody could use the seeded keys again.
      writeSecretFile(this.#keysPath, seed);
      return seed;
    });
  }

  async #startProcesses(
    description: ServiceDescription,
    { ports, metrics, secrets }: { ports: Ports; metrics: MetricsAddresses; secrets: DevelopmentSecrets },
  ): Promise<void> {
    const { settings, reporter, record } = this.#options;
    mkdirSync(join(settings.dataDirectory, 'storage'), { recursive: true });
    const options = {
      environment: this.#processEnvironment(description, ports.api, secrets),
      logsDirectory: this.#logsDirectory,
      record,
    };
    const optionsOf = ({ name }: { name: string }) => ({
      ...options,
      environment: { ...options.environment, ...metrics.get(name) },
    });
    const identityProvider = this.#writeIdentitySettings(description, ports.identity, secrets);
    await this.#together([
      reporter.step(`Identity provider at ${description.identity.issuer}`, () =>
        this.#supervise('processes', {
          name: IDENTITY_PROVIDER_PROCESS.name,
          start: (signal) => startIdentityProvider(options, identityProvider, signal),
        }),
      ),
      reporter.step(`API at ${description.apiUrl}`, () =>
        this.#supervise('processes', {
          name: API_PROCESS.name,
          start: (signal) => startApi(optionsOf(API_PROCESS), description.apiUrl, signal),
        }),
      ),
      ...WORKER_PROCESSES.map((worker) =>
        reporter.step(worker.name, () =>
          this.#supervise('processes', {
            name: worker.name,
            start: (signal) => startWorker(worker, optionsOf(worker), signal),
          }),
        ),
      ),
    ]);
  }

  #writeIdentitySettings(
    { organizationId, identity: { issuer } }: ServiceDescription,
    port: number,
    { users, clientSecret, tokenSigningKey }: DevelopmentSecrets,
  ): { settingsPath: string; jwksUrl: string } {
    const settingsPath = join(this.#options.settings.dataDirectory, 'identity-provider.json');
    const settings: IdentityProviderSettings = {
      host: LOOPBACK,
      port,
      issuer,
      audience: TOKEN_AUDIENCE,
      organizationId,
      users,
      clientSecret,
      tokenSigningKey,
    };
    writeSecretFile(settingsPath, settings);
    return { settingsPath, jwksUrl: jwksUrlOf(issuer) };
  }

  #processEnvironment(
    description: ServiceDescription,
    apiPort: number,
    { sealingKey }: DevelopmentSecrets,
  ): NodeJS.ProcessEnv {
    const { dataDirectory, apiHost, environment } = this.#options.settings;
    return {
      // What has a sensible default, and what a developer may want to set, comes first.
      LOG_LEVEL: 'info',
      MODELS_DIRECTORY: join(PROJECT_DIRECTORY, 'models'),
      LICENSE_SIGNING_KEYS: developmentSigningKeys(join(dataDirectory, 'license-signing-keys.json')),
      SECRET_SEALING_KEYS: `${sealingKey},${SCRIPTS_SEALING_KEY}`,
      MANAGEMENT_JWT_ISSUER: description.identity.issuer,
      MANAGEMENT_JWT_AUDIENCE: TOKEN_AUDIENCE,
      MANAGEMENT_JWKS_URL: jwksUrlOf(description.identity.issuer),
      ...environment,
      SERVICE_ENVIRONMENT: 'development',
      DATABASE_URL: description.databaseUrl,
      TEMPORAL_ADDRESS: description.temporalAddress,
      TEMPORAL_NAMESPACE: description.temporalNamespace,
      API_HOST: apiHost,
      API_PORT: String(apiPort),
      PUBLIC_BASE_URL: description.apiUrl,
      STORAGE_DIRECTORY: join(dataDirectory, 'storage'),
      // A laptop's own receivers are on private addresses.
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    };
  }

  /** Waits for all, so that whatever came up is known and can be stopped; then fails as the first did that failed. */
  async #together<Results extends unknown[]>(
    work: { [Key in keyof Results]: Promise<Results[Key]> },
  ): Promise<Results> {
    const failures: Error[] = [];
    for (const part of work) {
      part.catch((error: unknown) => {
        failures.push(error instanceof Error ? error : new Error(String(error)));
        this.#abandoned.abort();
      });
    }
    await Promise.allSettled(work);
    if (failures[0]) throw failures[0];
    return Promise.all(work);
  }

  async #supervise(group: keyof Groups, part: Pick<SupervisedOptions, 'name' | 'start'>): Promise<void> {
    const { reporter, signal } = this.#options;
    const options = { ...part, report: reporter.say, onGivenUp: this.#fail };
    const either = AbortSignal.any([signal, this.#abandoned.signal]);
    this.#groups[group].push(await Supervised.start(options, either));
  }

  get #keysPath(): string {
    return join(this.#options.settings.dataDirectory, 'keys.json');
  }
}

const jwksUrlOf = (issuer: string) => `${issuer}/jwks`;

export function writeSecretFile(path: string, content: unknown): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}
