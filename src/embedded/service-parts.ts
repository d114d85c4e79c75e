/** Starts, supervises and stops the programs of one service. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DevelopmentSecrets, readDevelopmentSecrets } from './development-secrets.ts';
import { type FoundTemporal, findTemporal } from './find-temporal.ts';
import { chooseMetricsAddresses, type MetricsAddresses, metricsUrls } from './metrics-addresses.ts';
import { preparePostgres } from './postgres.ts';
import { findOrphans, type ProcessRecord, stopOrphans } from './process-record.ts';
import type { Reporter } from './reporter.ts';
import { type DevelopmentKeys, type ServiceDescription, writeSecretFile } from './service-description.ts';
import {
  consoleUrlOf,
  identityProviderSettingsOf,
  jwksUrlOf,
  processEnvironmentOf,
  storageDirectoryOf,
} from './service-environment.ts';
import { chooseServicePorts, LOOPBACK, type ServicePorts } from './service-ports.ts';
import {
  API_PROCESS,
  IDENTITY_PROVIDER_PROCESS,
  startApi,
  startIdentityProvider,
  startWorker,
  WORKER_PROCESSES,
} from './service-processes.ts';
import type { EmbeddedSettings } from './settings.ts';
import { Supervised, type SupervisedOptions } from './supervised.ts';
import { ensureNamespace, startTemporal } from './temporal.ts';

/** Functions that the composition root supplies. */
export interface ServiceDependencies {
  migrate: (databaseUrl: string) => Promise<void>;
  seedDevelopment: (databaseUrl: string) => Promise<DevelopmentKeys>;
  /** Absent: there is none. */
  importDemonstrationBooks?: (databaseUrl: string) => Promise<void>;
}

export interface StartOptions {
  settings: EmbeddedSettings;
  dependencies: ServiceDependencies;
  reporter: Reporter;
  /** Aborts the start and stops everything that was up by then. */
  signal: AbortSignal;
  /** Records every process of the service, for an immediate stop. */
  record: ProcessRecord;
  /** The data is removed afterwards, so the database does not wait for the disk. */
  throwAway?: boolean;
}

const DATABASE = 'vehicle_inference';
/** In the order of the stop: one group after another, the members of a group in parallel. */
type Groups = Record<'processes' | 'temporal' | 'postgres', Supervised[]>;

/** The supervised programs of one service. */
export class ServiceParts {
  readonly failed: Promise<Error>;
  readonly #options: StartOptions;
  readonly #logsDirectory: string;
  #fail: (error: Error) => void = () => {};
  readonly #groups: Groups = { processes: [], temporal: [], postgres: [] };
  /** Aborts the other starts once one has failed. */
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
    const ports = await chooseServicePorts(settings, { startsTemporal: temporal.kind === 'program', reporter });
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
        password: secrets.password,
      },
      consoleUrl: consoleUrlOf(apiUrl),
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

  /** Clients of a server stop before the server. */
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

  async #startPostgres(port: number): Promise<string> {
    const { settings, reporter, record, throwAway = false } = this.#options;
    const dataDirectory = join(settings.dataDirectory, 'postgres');
    // Keys of a removed database are invalid in the next one.
    if (!existsSync(dataDirectory)) rmSync(this.#keysPath, { force: true });
    return reporter.step(`PostgreSQL at ${LOOPBACK}:${port}`, async () => {
      const logPath = join(this.#logsDirectory, 'postgres.log');
      const server = await preparePostgres({ dataDirectory, port, logPath, database: DATABASE, throwAway, record });
      await this.#supervise('postgres', { name: 'PostgreSQL', start: (signal) => server.start(signal) });
      return server.databaseUrl;
    });
  }

  async #startTemporal(temporal: FoundTemporal, ports: ServicePorts): Promise<string> {
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
      await dependencies.importDemonstrationBooks?.(databaseUrl);
      if (existsSync(this.#keysPath)) return JSON.parse(readFileSync(this.#keysPath, 'utf8')) as DevelopmentKeys;
      const seed = await dependencies.seedDevelopment(databaseUrl);
      // The database holds only hashes: without this file the seeded keys would be lost.
      writeSecretFile(this.#keysPath, seed);
      return seed;
    });
  }

  async #startProcesses(
    description: ServiceDescription,
    { ports, metrics, secrets }: { ports: ServicePorts; metrics: MetricsAddresses; secrets: DevelopmentSecrets },
  ): Promise<void> {
    const { settings, reporter, record } = this.#options;
    mkdirSync(storageDirectoryOf(settings.dataDirectory), { recursive: true });
    const options = {
      environment: processEnvironmentOf(settings, description, { apiPort: ports.api, sealingKey: secrets.sealingKey }),
      logsDirectory: this.#logsDirectory,
      record,
      say: reporter.say,
    };
    const optionsOf = ({ name }: { name: string }) => ({
      ...options,
      environment: { ...options.environment, ...metrics.get(name) },
    });
    const settingsPath = join(settings.dataDirectory, 'identity-provider.json');
    writeSecretFile(settingsPath, identityProviderSettingsOf(description, ports.identity, secrets));
    const identityProvider = { settingsPath, jwksUrl: jwksUrlOf(description.identity.issuer) };
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

  /** Waits for all, so that everything that started can be stopped, then rejects with the first failure. */
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
