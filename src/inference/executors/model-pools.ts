/**
 * The releases that are loaded, each in a pool of child processes of its own: what one model does to its processes, no
 * other model feels. Memory bounds which releases are loaded together.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../domain/service-error.ts';
import type { Log } from '../log.ts';
import { versionOf } from '../models/manifest.ts';
import { type InstalledModel, memoryMbOf } from '../models/registry.ts';
import { ChildPool, type ChildPoolOptions } from './child-pool.ts';
import type { Device } from './devices.ts';
import { NotReadyInTimeError } from './inference-child.ts';
import type { InferenceTask, NetworkRun, ServedPipeline } from './messages.ts';

/** A release with the pipelines that run on it. */
export interface RunnableRelease {
  /** `<model>@<release date>` */
  version: string;
  /** Changes with anything that `model.json` or its files say, also of the models that it uses. */
  identity: string;
  model: InstalledModel;
  pipelines: readonly ServedPipeline[];
}

export interface ExecutorObserver {
  /** A job waited so long for a process of its model. */
  waited(modelVersion: string, waitMs: number): void;
  ran(run: NetworkRun): void;
}

export interface ModelPoolsOptions
  extends Pick<
    ChildPoolOptions,
    'restartDelayMs' | 'graceMs' | 'environment' | 'workingMemoryBytes' | 'readyTimeoutMs' | 'askServer'
  > {
  devices: readonly Device[];
  /** Processes of each model on each device. */
  processes: number;
  threads: number;
  /** Megabytes that all loaded releases may need together; null for no bound. */
  memoryMb: number | null;
  logger: Log;
  observer?: ExecutorObserver;
  /** Milliseconds of a clock that never goes back. */
  clock?: () => number;
  /** How long `load` waits for a release, from the time it began to load. */
  patienceMs?: number;
}

interface LoadedRelease {
  release: RunnableRelease;
  memoryMb: number;
  /** Jobs that run or wait, and whoever waits for it to be warm. */
  users: number;
  lastUsedAtMs: number;
  /** Until when a look at the folder waits for it, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** To be stopped as soon as nobody uses it. */
  isLeaving: boolean;
  isLoading: boolean;
  pool: ChildPool | null;
  /** Endpoints that its pipelines refuse, with the reason. */
  warm: Promise<ReadonlyMap<string, string>>;
}

/** How long a release that no endpoint answers with by default stays loaded after its last job. */
const IDLE_MS = 5 * 60_000;
/** A model of ordinary size is warm by then; one that is not must not hold up the others. */
const PATIENCE_MS = 20_000;
/** How long a release that did not start, and may the next time, is not tried again. */
const RETRY_MS = 60_000;

/** It runs, or its pipelines make use of it, no better the next time. */
class RefusedReleaseError extends Error {}

export class ModelPools {
  readonly #options: ModelPoolsOptions;
  readonly #clock: () => number;
  readonly #loaded = new Map<string, LoadedRelease>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #failed = new Map<string, { error: Error; untilMs: number }>();
  /** Those that are never stopped to make room. */
  #defaults: ReadonlySet<string> = new Set();
  #isClosed = false;
  /** Runs work outside the request or job that asks for it: its processes serve others too, and outlive it. */
  readonly #outsideJobs = AsyncLocalStorage.snapshot();

  constructor(options: ModelPoolsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Process ids of all children that run now. */
  get pids(): readonly number[] {
    return [...this.#loaded.values()].flatMap(({ pool }) => pool?.pids ?? []);
  }

  /** Versions of what is loaded. */
  get loaded(): readonly string[] {
    return [...this.#loaded.values()].map(({ release }) => release.version);
  }

  /**
   * Loads a release, beside what is loaded. Resolves when it is warm, with the endpoints that its pipelines refuse; or with
   * null when it takes long: it then goes on, and may be asked for again.
   * @throws Error that says why it cannot be loaded; one that may have had bad luck is not tried again for a minute,
   * another not until `forgetFailures`
   */
  async load(release: RunnableRelease): Promise<ReadonlyMap<string, string> | null> {
    return await this.#use(release, async ({ warm, patientUntilMs }) => {
      const giveUp = new AbortController();
      const waited = sleep(Math.max(0, patientUntilMs - performance.now()), null, { signal: giveUp.signal });
      return await Promise.race([warm, waited.catch(() => null)]).finally(() => giveUp.abort());
    });
  }

  /**
   * Runs a task on a release, which is loaded first where it is not.
   * @throws as ChildPool.run; ServiceError `model_unavailable` when the release cannot be loaded
   */
  async run(release: RunnableRelease, task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    return await this.#use(release, async (loaded) => {
      const refused = await untilAborted(loaded.warm, signal).catch((error: Error) => {
        if (signal.aborted) throw error;
        this.#options.logger.error(
          { modelVersion: release.version, reason: error.message },
          'a release that was asked for cannot be loaded',
        );
        throw unavailable(release, error, this.#isRefused(release) ? 'for good' : 'for now');
      });
      const reason = refused.get(task.endpoint);
      if (reason !== undefined || !loaded.pool) throw unavailable(release, new Error(reason), 'for good');
      return await loaded.pool.run(task, signal);
    });
  }

  /**
   * Says which releases endpoints answer with by default. Those before them finish what they have in hand and are stopped,
   * as is what is no longer installed, and what nobody has asked for in a while. What is not installed has not failed.
   */
  keep(defaults: ReadonlySet<string>, installed: ReadonlySet<string>): void {
    const idleSinceMs = this.#clock() - IDLE_MS;
    for (const [identity, loaded] of this.#loaded) {
      if (defaults.has(identity)) continue;
      const isIdle = loaded.users === 0 && loaded.lastUsedAtMs < idleSinceMs;
      if (this.#defaults.has(identity) || !installed.has(identity) || isIdle) this.#leave(identity, loaded);
    }
    this.#defaults = defaults;
    // Its folder may come back just as it was.
    for (const identity of this.#failed.keys()) if (!installed.has(identity)) this.#failed.delete(identity);
  }

  /** Why a release cannot be loaded whatever is stopped for it, but for what is never stopped; null where it can. */
  lackOfRoom(release: RunnableRelease): string | null {
    return this.#loaded.has(release.identity) ? null : this.#lackOfRoom(release, (other) => this.#isDefault(other));
  }

  /** Whether it did not start, and would not now. */
  hasFailed({ identity }: RunnableRelease): boolean {
    const failed = this.#failed.get(identity);
    return failed !== undefined && this.#clock() < failed.untilMs;
  }

  /** Of one that did not start, does not fit, or refuses what it is asked for: the failure of a job that pins it. */
  refusal(release: RunnableRelease): ServiceError {
    const error = this.#failed.get(release.identity)?.error;
    if (error && !this.#isRefused(release)) return unavailable(release, error, 'for now');
    const { code, message } = unavailable(release, error, 'for good');
    return new ServiceError(code, message, { cause: error, isForGood: true });
  }

  /** Whatever did not start before may be tried again. */
  forgetFailures(): void {
    this.#failed.clear();
  }

  /** Rejects what runs or waits, and returns when every process is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [identity, loaded] of this.#loaded) void this.#stop(identity, loaded);
    await Promise.all(this.#stopping);
  }

  async #use<Result>(release: RunnableRelease, work: (loaded: LoadedRelease) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw closedError();
    const loaded = this.#loaded.get(release.identity) ?? this.#begin(release);
    loaded.users += 1;
    loaded.isLeaving = false;
    try {
      return await work(loaded);
    } finally {
      loaded.users -= 1;
      loaded.lastUsedAtMs = this.#clock();
      if (loaded.isLeaving) this.#leave(release.identity, loaded);
    }
  }

  #begin(release: RunnableRelease): LoadedRelease {
    const loaded: LoadedRelease = {
      release,
      memoryMb: 0,
      users: 0,
      lastUsedAtMs: this.#clock(),
      patientUntilMs: performance.now() + (this.#options.patienceMs ?? PATIENCE_MS),
      isLeaving: false,
      isLoading: true,
      pool: null,
      warm: Promise.resolve(new Map()),
    };
    // Whatever it lacks, nobody need wait for it.
    this.#loaded.set(release.identity, loaded);
    loaded.warm = this.#outsideJobs(() => this.#start(loaded)).finally(() => {
      loaded.isLoading = false;
    });
    loaded.warm.catch(() => this.#stop(release.identity, loaded));
    return loaded;
  }

  async #start(loaded: LoadedRelease): Promise<ReadonlyMap<string, string>> {
    const { release } = loaded;
    const failed = this.#failed.get(release.identity);
    if (failed && this.hasFailed(release)) throw failed.error;
    this.#makeRoom(loaded);
    // The memory of what was stopped is free when its processes have gone.
    await Promise.all(this.#stopping);
    if (this.#isClosed) throw closedError();
    try {
      return await this.#startPool(loaded);
    } catch (error) {
      const isForGood = error instanceof RefusedReleaseError && !asksServers(release.model);
      const untilMs = isForGood ? Number.POSITIVE_INFINITY : this.#clock() + RETRY_MS;
      this.#failed.set(release.identity, { error: error as Error, untilMs });
      throw error;
    }
  }

  async #startPool(loaded: LoadedRelease): Promise<ReadonlyMap<string, string>> {
    const { version: modelVersion, model, pipelines } = loaded.release;
    const { observer, logger } = this.#options;
    const pool = new ChildPool({
      ...this.#options,
      model,
      pipelines,
      tasksAtOnce: tasksAtOnce(model),
      onWaited: (waitMs) => observer?.waited(modelVersion, waitMs),
      onRuns: (runs) => {
        for (const run of runs) observer?.ran(run);
      },
    });
    loaded.pool = pool;
    const { refused, residentBytes } = await pool.ready.catch((error: Error) => {
      throw error instanceof NotReadyInTimeError ? new RefusedReleaseError(error.message) : error;
    });
    if (refused.length === pipelines.length) {
      const [first] = refused;
      throw first?.isUnreadable ? new Error(first.reason) : new RefusedReleaseError(first?.reason);
    }
    const megabytesEach = Math.round(residentBytes / 1e6);
    logger.info({ modelVersion, processes: pool.pids.length, megabytesEach }, 'a release is loaded');
    return new Map(refused.map(({ endpoint, reason }) => [endpoint, reason]));
  }

  /**
   * Stops releases that no endpoint answers with by default and nobody uses, the one unused for longest first, until the
   * release fits.
   * @throws Error when it cannot fit; nothing is stopped then
   */
  #makeRoom(loaded: LoadedRelease): void {
    const { memoryMb: limitMb } = this.#options;
    if (limitMb === null) return;
    const mustStay = (other: LoadedRelease) =>
      other === loaded || other.users > 0 || other.isLoading || this.#isDefault(other);
    const problem = this.#lackOfRoom(loaded.release, mustStay);
    if (problem !== null) throw new Error(problem);
    const neededMb = this.#neededMb(loaded.release);
    const idle = [...this.#loaded.values()].filter((other) => !mustStay(other));
    for (const other of idle.toSorted((a, b) => a.lastUsedAtMs - b.lastUsedAtMs)) {
      if (neededMb <= limitMb - this.#takenMb()) break;
      void this.#stop(other.release.identity, other);
    }
    // Before anything is waited for: nobody else may count on the same room.
    loaded.memoryMb = neededMb;
  }

  /** Why a release does not fit beside those that stay; null where it does. */
  #lackOfRoom(release: RunnableRelease, mustStay: (other: LoadedRelease) => boolean): string | null {
    const { memoryMb: limitMb, devices, processes } = this.#options;
    if (limitMb === null) return null;
    const silent = modelWithoutMemoryMb(release.model);
    if (silent)
      return `memoryMb is missing from model.json of ${versionOf(silent.manifest)}, and INFERENCE_MEMORY_MB is set`;
    const neededMb = this.#neededMb(release);
    const freeMb = limitMb - this.#takenMb(mustStay);
    if (neededMb <= freeMb) return null;
    return (
      `it needs ${neededMb} MB in ${devices.length * processes} processes, INFERENCE_MEMORY_MB is ${limitMb}, and other ` +
      `models take all but ${freeMb} MB of it`
    );
  }

  #neededMb({ model }: RunnableRelease): number {
    const { devices, processes } = this.#options;
    return memoryMbOf(model) * devices.length * processes;
  }

  #takenMb(isCounted: (other: LoadedRelease) => boolean = () => true): number {
    return [...this.#loaded.values()].filter(isCounted).reduce((sum, { memoryMb }) => sum + memoryMb, 0);
  }

  #isRefused({ identity }: RunnableRelease): boolean {
    return this.#failed.get(identity)?.untilMs === Number.POSITIVE_INFINITY;
  }

  #isDefault({ release }: LoadedRelease): boolean {
    return this.#defaults.has(release.identity);
  }

  /** Stops it now, or when the last job on it has ended. */
  #leave(identity: string, loaded: LoadedRelease): void {
    if (loaded.users > 0) loaded.isLeaving = true;
    else void this.#stop(identity, loaded);
  }

  #stop(identity: string, loaded: LoadedRelease): Promise<void> {
    if (this.#loaded.get(identity) === loaded) this.#loaded.delete(identity);
    loaded.memoryMb = 0;
    const stopped = Promise.resolve(loaded.pool?.close());
    this.#stopping.add(stopped);
    void stopped.finally(() => this.#stopping.delete(stopped));
    return stopped;
  }
}

/** Two, so that one picture is decoded while the other is computed; or as many as make the largest batch. */
function tasksAtOnce(model: InstalledModel): number {
  const own = Object.values(model.manifest.files).map(({ batch }) => batch?.max ?? 1);
  return Math.max(2, ...own, ...Object.values(model.uses).map(tasksAtOnce));
}

/** Whether a network of it runs on a server, which may only be away. */
function asksServers({ manifest, uses }: InstalledModel): boolean {
  return Object.values(manifest.files).some(({ kserve }) => kserve) || Object.values(uses).some(asksServers);
}

/** It, or one that it uses. */
function modelWithoutMemoryMb(model: InstalledModel): InstalledModel | undefined {
  if (model.manifest.memoryMb === undefined) return model;
  return Object.values(model.uses)
    .map(modelWithoutMemoryMb)
    .find((silent) => silent);
}

async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function closedError(): ServiceError {
  return new ServiceError('model_inference_failed', 'The worker is shutting down. Send the request again.');
}

/** Another attempt is made in any case: another worker may run it. */
function unavailable({ version }: RunnableRelease, cause: unknown, until: 'for now' | 'for good'): ServiceError {
  const message =
    until === 'for now'
      ? `${version} cannot be run at the moment. Send the request again.`
      : `${version} cannot be run. Name another build in Model-Version, or none.`;
  return new ServiceError('model_unavailable', message, { cause });
}
