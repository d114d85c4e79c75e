/**
 * Which release of which model answers an endpoint. Follows the folder of models while jobs run: what has been added is
 * warmed up beside what answers, then answers in its place; what has been replaced finishes the jobs it has in hand.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { InferenceRequest, InstalledEndpoint } from './backend.ts';
import type { InferenceTask } from './executors/messages.ts';
import { ModelPools, type ModelPoolsOptions, type RunnableRelease } from './executors/model-pools.ts';
import { installedBundles } from './live-stages.ts';
import type { Log } from './log.ts';
import { versionOf } from './models/manifest.ts';
import { createModelFolder, type InstalledModel, type ModelFolder, type ModelRegistry } from './models/registry.ts';
import { hasGone } from './models/release.ts';
import { findServedEndpoints, type ServedEndpoint } from './served-endpoints.ts';

export interface ModelHostOptions extends ModelPoolsOptions {
  modelsDirectory: string;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
}

/** What an endpoint can be answered by. */
interface Route {
  /** Answers where no build is named; null where nothing can answer. */
  current: RunnableRelease | null;
  /** Every installed release for the task of the endpoint, the newest first, by version. */
  releases: ReadonlyMap<string, RunnableRelease>;
}

const NO_ROOM = 'a release cannot be asked for by Model-Version: it does not fit beside those that answer';
/** How long a worker that stops waits for a reload: a file system that is away may never answer. */
const RELOAD_GRACE_MS = 3_000;

export class ModelHost {
  readonly #options: ModelHostOptions;
  readonly #logger: Log;
  readonly #served: readonly ServedEndpoint[];
  readonly #folder: ModelFolder;
  readonly #pools: ModelPools;
  readonly #routes = new Map<string, Route>();
  #bundles: ReadonlyMap<string, string> = new Map();
  #registry: ModelRegistry | null = null;
  /** Of the present registry, by its model. */
  #releases = new Map<InstalledModel, RunnableRelease>();
  /** What is wrong with a release for an endpoint, or with an endpoint: it is logged once. */
  readonly #problems = new Map<string, string>();
  #reloading: Promise<void> = Promise.resolve();

  private constructor(options: ModelHostOptions, served: readonly ServedEndpoint[]) {
    this.#options = options;
    this.#logger = options.logger;
    this.#served = served;
    this.#folder = createModelFolder(options.modelsDirectory, options.logger);
    this.#pools = new ModelPools(options);
  }

  /** Resolves when everything that can answer is warm; what cannot is logged with the reason. */
  static async start(options: ModelHostOptions): Promise<ModelHost> {
    const host = new ModelHost(options, await findServedEndpoints(options));
    try {
      await host.reload();
    } catch (error) {
      await host.close();
      throw error;
    }
    return host;
  }

  /** Process ids of the children that run now. */
  get pids(): readonly number[] {
    return this.#pools.pids;
  }

  /** Versions of the releases that are in memory. */
  get loaded(): readonly string[] {
    return this.#pools.loaded;
  }

  /**
   * Takes up what has changed in the folder of models. Resolves when what is new answers.
   * @param now a release is read even if its files were written a moment ago, and what did not run is tried again
   * @throws Error when the folder cannot be read: everything then stays as it was
   */
  reload(options: { now?: boolean } = {}): Promise<void> {
    const reloading = this.#reloading.then(() => this.#reload(options));
    this.#reloading = reloading.catch(() => undefined);
    return reloading;
  }

  /** @throws ServiceError `model_unavailable` when nothing can answer the endpoint, or what is pinned cannot be run */
  modelVersion({
    endpoint,
    pinnedModelVersion = null,
  }: Pick<InferenceRequest, 'endpoint' | 'pinnedModelVersion'>): string {
    const route = this.#routes.get(endpoint);
    const pinned = pinnedModelVersion === null ? undefined : route?.releases.get(pinnedModelVersion);
    if (pinned && pinned.version !== route?.current?.version && !this.#mayRun(endpoint, pinned)) {
      throw this.#pools.refusal(pinned);
    }
    if (pinned) return pinned.version;
    const version = route?.current?.version ?? this.#bundles.get(endpoint);
    if (version === undefined) throw notInstalled(endpoint);
    return version;
  }

  installedEndpoints(): readonly InstalledEndpoint[] {
    const endpoints = this.#served.flatMap(({ endpoint }): InstalledEndpoint[] => {
      const { current, releases } = this.#routes.get(endpoint) ?? {};
      if (!current || !releases) return [];
      const otherVersions = [...releases.values()]
        .filter((release) => release.version !== current.version && this.#mayRun(endpoint, release))
        .map(({ version }) => version);
      return [{ endpoint, modelVersion: current.version, ...(otherVersions.length > 0 && { otherVersions }) }];
    });
    const bundles = [...this.#bundles].map(([endpoint, modelVersion]) => ({ endpoint, modelVersion }));
    return [...endpoints, ...bundles];
  }

  /**
   * Runs a task on the release of that version, which need not be the one that answers by default.
   * @throws as ModelPools.run; ServiceError `model_unavailable` when it is not installed
   */
  async run(version: string, task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    const route = this.#routes.get(task.endpoint);
    // What is loaded comes first: its folder may just have been replaced by another of the same name.
    const release = route?.current?.version === version ? route.current : route?.releases.get(version);
    if (!release) throw notInstalled(task.endpoint, version);
    return await this.#pools.run(release, task, signal);
  }

  /** Rejects what runs or waits, and returns when every process is gone, and a reload has ended or is given up. */
  async close(): Promise<void> {
    await this.#pools.close();
    await Promise.race([this.#reloading, sleep(this.#options.graceMs ?? RELOAD_GRACE_MS, undefined, { ref: false })]);
  }

  async #reload({ now = false }: { now?: boolean }): Promise<void> {
    const registry = await this.#folder.read({ now });
    if (registry !== this.#registry) this.#take(registry);
    if (now) {
      this.#pools.forgetFailures();
      this.#problems.clear();
    }
    await Promise.all(this.#served.map((served) => this.#follow(served, registry)));
    const current = [...this.#routes.values()].flatMap((route) => route.current?.identity ?? []);
    const installed = [...this.#releases.values()].map(({ identity }) => identity);
    this.#pools.keep(new Set(current), new Set([...current, ...installed]));
    this.#forgetProblems(new Set(installed));
    this.#reportLackOfRoom();
    const versions = new Map([...this.#routes].flatMap(([endpoint, route]) => entryOf(endpoint, route)));
    this.#bundles = await installedBundles(this.#options.endpoints, this.#options.endpointsDirectory, versions);
  }

  #take(registry: ModelRegistry): void {
    this.#registry = registry;
    const pipelinesFor = Map.groupBy(this.#served, ({ task }) => task);
    this.#releases = new Map(
      registry.models.map((model) => [
        model,
        {
          version: versionOf(model.manifest),
          identity: createHash('sha256').update(JSON.stringify(model)).digest('hex'),
          model,
          pipelines: pipelinesFor.get(model.manifest.task) ?? [],
        },
      ]),
    );
    for (const { model, release, task } of registry.idle(new Set(pipelinesFor.keys()))) {
      this.#logger.warn({ model, release, task }, 'no endpoint asks for models with this task');
    }
  }

  /** Makes the newest release that runs answer an endpoint. */
  async #follow({ endpoint, task }: ServedEndpoint, registry: ModelRegistry): Promise<void> {
    const candidates = registry.forTask(task).flatMap((model) => this.#releases.get(model) ?? []);
    const releases = new Map(candidates.map((release) => [release.version, release]));
    if (candidates.length === 0) {
      const reason = `no model with the task ${task} is installed`;
      this.#report(endpoint, reason, () =>
        this.#logger.warn({ endpoint, reason }, 'an endpoint cannot be served in live mode'),
      );
    } else {
      this.#problems.delete(endpoint);
    }
    const before = this.#routes.get(endpoint)?.current ?? null;
    // Until the choice is made, the one before answers, also of a release that has gone.
    if (before) this.#routes.set(endpoint, { current: before, releases });
    const current = await this.#newestThatRuns(endpoint, candidates);
    this.#routes.set(endpoint, { current, releases });
    if (before && current && before.identity !== current.identity) {
      this.#logger.info({ endpoint, from: before.version, to: current.version }, 'another release answers');
    }
  }

  async #newestThatRuns(endpoint: string, candidates: readonly RunnableRelease[]): Promise<RunnableRelease | null> {
    for (const release of candidates) {
      const key = problemKey(endpoint, release);
      try {
        const refused = await this.#pools.load(release);
        // It is asked again at the next look; until then another answers.
        if (!refused) continue;
        const reason = refused.get(endpoint);
        if (reason !== undefined) throw new Error(reason);
        this.#problems.delete(key);
        return release;
      } catch (error) {
        const fields = { endpoint, modelVersion: release.version, reason: (error as Error).message };
        const isRemoved = await hasGone(release.model.directory).catch(() => false);
        this.#report(key, fields.reason, () => {
          if (isRemoved) this.#logger.warn(fields, 'a release was removed while it was loaded');
          else this.#logger.error(fields, 'a release cannot be run; an older one answers where there is one');
        });
      }
    }
    return null;
  }

  #mayRun(endpoint: string, release: RunnableRelease): boolean {
    if (this.#problems.has(problemKey(endpoint, release))) return false;
    return !this.#pools.hasFailed(release) && this.#pools.lackOfRoom(release) === null;
  }

  /** Of releases that a request could ask for, if they fitted; those that were to answer by default are logged already. */
  #reportLackOfRoom(): void {
    for (const [endpoint, { releases }] of this.#routes) {
      for (const release of releases.values()) {
        if (this.#problems.has(problemKey(endpoint, release))) continue;
        const key = `room ${release.identity}`;
        const reason = this.#pools.lackOfRoom(release);
        if (reason === null) this.#problems.delete(key);
        else this.#report(key, reason, () => this.#logger.warn({ modelVersion: release.version, reason }, NO_ROOM));
      }
    }
  }

  /** Of releases that are not installed: one that comes back just as it was is tried again. */
  #forgetProblems(installed: ReadonlySet<string>): void {
    for (const key of this.#problems.keys()) {
      const [, identity] = key.split(' ');
      if (identity !== undefined && !installed.has(identity)) this.#problems.delete(key);
    }
  }

  #report(key: string, reason: string, log: () => void): void {
    if (this.#problems.get(key) === reason) return;
    this.#problems.set(key, reason);
    log();
  }
}

function entryOf(endpoint: string, { current }: Route): [string, string][] {
  return current ? [[endpoint, current.version]] : [];
}

function problemKey(endpoint: string, { identity }: RunnableRelease): string {
  return `${endpoint} ${identity}`;
}

function notInstalled(endpoint: string, version: string | null = null): ServiceError {
  const problem = version === null ? 'No model is installed' : `${version} is not installed`;
  return new ServiceError('model_unavailable', `${problem} for ${endpoint}.`);
}
