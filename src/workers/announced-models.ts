/** Keeps what an inference worker can run up to date: with its folder of models, and in what the API knows of it. */
import type { Logger } from 'pino';
import {
  ANNOUNCEMENT_LEASE_MS,
  announceInstalledEndpoints,
  buildsOf,
  renewInstalledEndpoints,
} from '../db/jobs/installed-endpoints.ts';
import { forgetWithdrawnEndpoints } from '../db/jobs/withdrawn-endpoints.ts';
import type { MikroORM } from '../db/orm.ts';
import type { InstalledEndpoint } from '../inference/backend.ts';
import type { Backend } from '../inference/create-backend.ts';

interface Options {
  orm: MikroORM;
  backend: Pick<Backend, 'installedEndpoints' | 'reload'>;
  /** Slugs of all endpoints. */
  endpoints: readonly string[];
  logger: Logger;
}

/** By looking, not by being told: file systems of networks tell nobody. */
const RELOAD_INTERVAL_MS = 5_000;

export class AnnouncedModels {
  readonly #options: Options;
  #announced: readonly InstalledEndpoint[] | null = null;
  /** One write at a time: what is renewed is what was announced last. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Announces what the backend can run, where it is not what was announced before. */
  announce(): Promise<void> {
    return this.#write(async () => {
      const { orm, backend, endpoints, logger } = this.#options;
      const installed = backend.installedEndpoints();
      const before = this.#announced;
      if (before && JSON.stringify(before) === JSON.stringify(installed)) return;
      const present = new Set(installed.map(({ endpoint }) => endpoint));
      const missing = endpoints.filter((slug) => !present.has(slug));
      const kept = new Set(buildsOf(installed).map(nameOf));
      const gone = buildsOf(before ?? []).filter((build) => !kept.has(nameOf(build)));
      await announceInstalledEndpoints(orm.em.fork(), installed, gone);
      await forgetWithdrawnEndpoints(orm.em.fork());
      this.#announced = installed;
      logger.info({ installed, missing }, 'models installed');
    });
  }

  renew(): Promise<void> {
    return this.#write(() => renewInstalledEndpoints(this.#options.orm.em.fork(), this.#announced ?? []));
  }

  /** Takes up what has changed in the folder of models, and announces it. A failure is logged, and all stays as it was. */
  async reload(options: { now?: boolean } = {}): Promise<void> {
    const { backend, logger } = this.#options;
    await backend.reload(options).catch((err: unknown) => {
      logger.warn({ err }, 'the folder of models cannot be read; what is loaded stays, and the next time tries again');
    });
    await this.announce().catch(this.#warn);
  }

  /** Renews and reloads from now on, and on SIGHUP at once. Answers what ends it. */
  follow(): () => void {
    const renewal = setInterval(() => void this.renew().catch(this.#warn), ANNOUNCEMENT_LEASE_MS / 3);
    let isReloading = false;
    const look = async (): Promise<void> => {
      // A large model may take longer to load than it is until the next look.
      if (isReloading) return;
      isReloading = true;
      await this.reload();
      isReloading = false;
    };
    const reloading = setInterval(() => void look(), RELOAD_INTERVAL_MS);
    const reloadNow = () => void this.reload({ now: true });
    process.on('SIGHUP', reloadNow);
    return () => {
      clearInterval(renewal);
      clearInterval(reloading);
      process.off('SIGHUP', reloadNow);
    };
  }

  readonly #warn = (err: unknown): void => {
    this.#options.logger.warn({ err }, 'installed models not announced; the next time tries again');
  };

  #write(work: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(work);
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

function nameOf({ endpoint, modelVersion }: { endpoint: string; modelVersion: string }): string {
  return `${endpoint} ${modelVersion}`;
}
