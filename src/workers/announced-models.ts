/** Keeps an inference worker's models current with its folder, and announces them to the API. */
import type { Logger } from 'pino';
import type { InstalledEndpoint } from '../contracts/inference-backend.ts';
import type { Backend } from '../inference/backends/create-backend.ts';
import {
  ANNOUNCEMENT_LEASE_MS,
  announceInstalledEndpoints,
  buildsOf,
  renewInstalledEndpoints,
} from '../jobs/installed-endpoints-store.ts';
import { forgetWithdrawnEndpoints } from '../jobs/withdrawn-endpoints-store.ts';
import type { MikroORM } from '../platform/database/orm.ts';

interface Options {
  orm: MikroORM;
  backend: Pick<Backend, 'installedEndpoints' | 'reload'>;
  /** Slugs of all endpoints. */
  endpoints: readonly string[];
  logger: Logger;
}

/** Polled, because network file systems send no notifications. */
const RELOAD_INTERVAL_MS = 5_000;

export class AnnouncedModels {
  readonly #options: Options;
  #announced: readonly InstalledEndpoint[] | null = null;
  /** One write at a time, so that a renewal renews the last announcement. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Announces the endpoints that the backend can run, if they have changed. */
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

  /** Loads changes in the folder of models and announces them. A failure is logged and changes nothing. */
  async reload(options: { now?: boolean } = {}): Promise<void> {
    const { backend, logger } = this.#options;
    await backend.reload(options).catch((err: unknown) => {
      logger.warn(
        { err },
        'the folder of models or the choice of releases cannot be read; the loaded models stay, and the next check tries again',
      );
    });
    await this.announce().catch(this.#warn);
  }

  /** Renews and reloads from now on, and at once on SIGHUP. Returns a function that ends it. */
  follow(): () => void {
    const renewal = setInterval(() => void this.renew().catch(this.#warn), ANNOUNCEMENT_LEASE_MS / 3);
    let isReloading = false;
    const look = async (): Promise<void> => {
      // A large model may take longer to load than the interval.
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
    this.#options.logger.warn({ err }, 'installed models not announced; the next check tries again');
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
