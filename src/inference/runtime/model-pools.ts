/**
 * The loaded releases, each in its own pool of child processes so that models cannot affect each other. A memory budget
 * decides which releases are loaded together.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { ChildPool, type ChildPoolOptions } from './child-pool.ts';
import type { Device } from './devices.ts';
import { NotReadyInTimeError } from './inference-child.ts';
import { createMemoryBudget, type MemoryBudget } from './memory-budget.ts';
import type { InferenceTask, NetworkRun } from './messages.ts';
import { RefusedReleaseError, ReleaseFailures, unavailable } from './release-failures.ts';
import { type RunnableRelease, tasksAtOnce } from './runnable-release.ts';

export interface ExecutorObserver {
  /** How long a job waited for a process of its model. */
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
  /** Megabytes that all loaded releases may need together; null for no limit. */
  memoryMb: number | null;
  logger: Log;
  observer?: ExecutorObserver;
  /** A monotonic clock, in milliseconds. */
  clock?: () => number;
  /** How long `load` waits for a release, counted from the start of its loading. */
  patienceMs?: number;
}

interface LoadedRelease {
  release: RunnableRelease;
  memoryMb: number;
  /** Jobs that run or wait, and callers that wait for the warm-up. */
  users: number;
  lastUsedAtMs: number;
  /** Until when `load` waits for it, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** To be stopped when its last user has finished. */
  isLeaving: boolean;
  isLoading: boolean;
  pool: ChildPool | null;
  /** Endpoint → reason, for each endpoint that it cannot serve. */
  warm: Promise<ReadonlyMap<string, string>>;
}

/** How long a release that serves no endpoint by default stays loaded after its last job. */
const IDLE_MS = 5 * 60_000;
/** Models of ordinary size are warm by then, also where all of them load at once on two busy cores; others must not delay the rest. */
const PATIENCE_MS = 60_000;

export class ModelPools {
  readonly #options: ModelPoolsOptions;
  readonly #clock: () => number;
  readonly #loaded = new Map<string, LoadedRelease>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #budget: MemoryBudget;
  readonly #failures: ReleaseFailures;
  /** Identities of the releases that serve by default: they are never stopped to make room. */
  #defaults: ReadonlySet<string> = new Set();
  #isClosed = false;
  /** Runs work outside the async context of the job that triggers it: a pool's processes outlive that job. */
  readonly #outsideJobs = AsyncLocalStorage.snapshot();

  constructor(options: ModelPoolsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#budget = createMemoryBudget(options.memoryMb, options.devices.length * options.processes);
    this.#failures = new ReleaseFailures(this.#clock);
  }

  /** Process ids of all running children. */
  get pids(): readonly number[] {
    return [...this.#loaded.values()].flatMap(({ pool }) => pool?.pids ?? []);
  }

  /** Versions of the loaded releases. */
  get loaded(): readonly string[] {
    return [...this.#loaded.values()].map(({ release }) => release.version);
  }

  /**
   * Loads a release beside those already loaded.
   * @returns endpoint → reason for each endpoint that it cannot serve; null when it takes longer than `patienceMs`. Loading
   * then continues, and `load` may be called again.
   * @throws Error with the reason. A failure that may pass is not retried for a minute, any other not until
   * `forgetFailures`.
   */
  async load(release: RunnableRelease): Promise<ReadonlyMap<string, string> | null> {
    return await this.#use(release, async ({ warm, patientUntilMs }) => {
      const giveUp = new AbortController();
      const waited = sleep(Math.max(0, patientUntilMs - performance.now()), null, { signal: giveUp.signal });
      return await Promise.race([warm, waited.catch(() => null)]).finally(() => giveUp.abort());
    });
  }

  /**
   * Runs a task on a release, loading it first if necessary.
   * @throws as ChildPool.run; ServiceError `model_unavailable` when the release cannot be loaded
   */
  async run(release: RunnableRelease, task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    return await this.#use(release, async (loaded) => {
      const refused = await untilAborted(loaded.warm, signal).catch((error: Error) => {
        if (signal.aborted) throw error;
        this.#options.logger.error(
          { modelVersion: release.version, reason: error.message },
          'a pinned release cannot be loaded',
        );
        throw this.#failures.failureOf(release, error);
      });
      const reason = refused.get(task.endpoint);
      if (reason !== undefined || !loaded.pool) throw unavailable(release, new Error(reason), 'for good');
      return await loaded.pool.run(task, signal);
    });
  }

  /**
   * Sets the releases that serve by default. Stops, after their jobs, the previous defaults, releases that are no longer
   * installed, and idle ones. Forgets failures of releases that are not installed.
   */
  keep(defaults: ReadonlySet<string>, installed: ReadonlySet<string>): void {
    const idleSinceMs = this.#clock() - IDLE_MS;
    for (const [identity, loaded] of this.#loaded) {
      if (defaults.has(identity)) continue;
      const isIdle = loaded.users === 0 && loaded.lastUsedAtMs < idleSinceMs;
      if (this.#defaults.has(identity) || !installed.has(identity) || isIdle) this.#leave(identity, loaded);
    }
    this.#defaults = defaults;
    this.#failures.keepOnly(installed);
  }

  /** Why a release does not fit beside the defaults, which are never stopped; null when it fits. */
  lackOfRoom(release: RunnableRelease): string | null {
    if (this.#loaded.has(release.identity)) return null;
    const taken = this.#takenMb((other) => this.#isDefault(other));
    return this.#budget.problem(release.model, taken);
  }

  /** Whether a release did not start, and is not tried again now. */
  hasFailed(release: RunnableRelease): boolean {
    return this.#failures.current(release) !== null;
  }

  /** The failure of a job that pins a release which did not start, does not fit, or refuses the job's endpoint. */
  refusal(release: RunnableRelease): ServiceError {
    return this.#failures.refusal(release);
  }

  /** Lets every release that did not start be tried again. */
  forgetFailures(): void {
    this.#failures.clear();
  }

  /** Rejects running and waiting tasks. Resolves when every process is gone. */
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
    this.#loaded.set(release.identity, loaded);
    loaded.warm = this.#outsideJobs(() => this.#start(loaded)).finally(() => {
      loaded.isLoading = false;
    });
    loaded.warm.catch(() => this.#stop(release.identity, loaded));
    return loaded;
  }

  async #start(loaded: LoadedRelease): Promise<ReadonlyMap<string, string>> {
    const { release } = loaded;
    const failure = this.#failures.current(release);
    if (failure) throw failure;
    this.#makeRoom(loaded);
    // Memory is free once the stopped processes are gone.
    await Promise.all(this.#stopping);
    if (this.#isClosed) throw closedError();
    try {
      return await this.#startPool(loaded);
    } catch (error) {
      this.#failures.add(release, error as Error);
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
   * Stops idle releases that serve nothing by default, least recently used first, until the release fits.
   * @throws Error when it cannot fit; nothing is stopped then
   */
  #makeRoom(loaded: LoadedRelease): void {
    const { model } = loaded.release;
    const mustStay = (other: LoadedRelease) =>
      other === loaded || other.users > 0 || other.isLoading || this.#isDefault(other);
    const problem = this.#budget.problem(model, this.#takenMb(mustStay));
    if (problem !== null) throw new Error(problem);
    const idle = [...this.#loaded.values()].filter((other) => !mustStay(other));
    for (const other of idle.toSorted((a, b) => a.lastUsedAtMs - b.lastUsedAtMs)) {
      if (this.#budget.fits(model, this.#takenMb())) break;
      void this.#stop(other.release.identity, other);
    }
    // Before anything is waited for, so that no other release counts on the same room.
    loaded.memoryMb = this.#budget.neededMb(model);
  }

  #takenMb(isCounted: (other: LoadedRelease) => boolean = () => true): number {
    return [...this.#loaded.values()].filter(isCounted).reduce((sum, { memoryMb }) => sum + memoryMb, 0);
  }

  #isDefault({ release }: LoadedRelease): boolean {
    return this.#defaults.has(release.identity);
  }

  /** Stops a release now, or after its last job. */
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
