/**
 * Decides which release serves each endpoint, and follows the folder of models while jobs run. A new release warms up beside
 * the serving one, then takes over; the old one finishes its jobs.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { InferenceRequest, InstalledEndpoint } from '../../contracts/inference-backend.ts';
import type { ReleaseChoice, Trial } from '../../contracts/release-choice.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { versionOf } from '../models/manifest.ts';
import { createModelFolder, type InstalledModel, type ModelFolder, type ModelRegistry } from '../models/registry.ts';
import { hasGone } from '../models/release.ts';
import type { InferenceTask } from './messages.ts';
import { ModelPools, type ModelPoolsOptions } from './model-pools.ts';
import type { RunnableRelease } from './runnable-release.ts';
import { findServedEndpoints, type ServedEndpoint, type ServedValuesOf } from './served-endpoints.ts';

export interface ModelHostOptions extends ModelPoolsOptions {
  modelsDirectory: string;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Installed builds (endpoint → version) → the bundles that they make available, each with its version. */
  installedBundles(versions: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>>;
  /** True when omitted. */
  decodesVideos?: boolean;
  /** The releases that an operator chose, by endpoint. None when omitted. */
  readChoices?(): Promise<ReadonlyMap<string, ReleaseChoice>>;
}

/** The releases that can serve an endpoint. */
interface Route {
  /** Serves requests that pin no build; null when no release can serve. */
  current: RunnableRelease | null;
  /** Version → release, for every installed release with the endpoint's task, newest first. */
  releases: ReadonlyMap<string, RunnableRelease>;
  /** Answers a share of the jobs that pin no build; null when there is none, or it cannot serve here. */
  canary: RunnableRelease | null;
}

const NO_ROOM = 'a release cannot be pinned by Model-Version: it does not fit in memory beside the default releases';
/** How long a stopping worker waits for a reload: an unreachable file system may never respond. */
const RELOAD_GRACE_MS = 3_000;

export class ModelHost {
  readonly #options: ModelHostOptions;
  readonly #logger: Log;
  readonly #served: readonly ServedEndpoint[];
  readonly #servedValues: ReadonlyMap<string, ServedValuesOf>;
  readonly #folder: ModelFolder;
  readonly #pools: ModelPools;
  readonly #routes = new Map<string, Route>();
  #choices: ReadonlyMap<string, ReleaseChoice> = new Map();
  #bundles: ReadonlyMap<string, string> = new Map();
  /** Take videos alone, which cannot be decoded here. Stages that decode none still run here: they have a version. */
  readonly #undecoded: ReadonlySet<string>;
  #registry: ModelRegistry | null = null;
  /** Of the current registry. */
  #releases = new Map<InstalledModel, RunnableRelease>();
  /** Key of an endpoint, or of a release for it → its logged problem. Each is logged once. */
  readonly #problems = new Map<string, string>();
  #reloading: Promise<void> = Promise.resolve();

  private constructor(
    options: ModelHostOptions,
    { served, servedValues }: Awaited<ReturnType<typeof findServedEndpoints>>,
  ) {
    this.#options = options;
    this.#logger = options.logger;
    this.#served = served;
    this.#servedValues = servedValues;
    const { endpoints, decodesVideos = true } = options;
    this.#undecoded = new Set(decodesVideos ? [] : endpoints.filter(takesVideosAlone).map(({ slug }) => slug));
    this.#folder = createModelFolder(options.modelsDirectory, options.logger);
    this.#pools = new ModelPools(options);
  }

  /** Resolves when every serving release is warm. Releases that cannot serve are logged with the reason. */
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

  /** Process ids of all running children. */
  get pids(): readonly number[] {
    return this.#pools.pids;
  }

  /** Versions of the releases that are in memory. */
  get loaded(): readonly string[] {
    return this.#pools.loaded;
  }

  /**
   * Applies changes in the folder of models and of the operator's choices. Resolves when new releases serve.
   * @param now reads releases even if their files were written a moment ago, and retries those that did not run
   * @throws Error when the folder or the choices cannot be read; nothing changes then
   */
  reload(options: { now?: boolean } = {}): Promise<void> {
    const reloading = this.#reloading.then(() => this.#reload(options));
    this.#reloading = reloading.catch(() => undefined);
    return reloading;
  }

  /** @throws ServiceError `model_unavailable` when no release can serve the endpoint, or the pinned one cannot run */
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

  /** The release on trial; of canaries only those that are warm here. */
  trial(endpoint: string): Trial | null {
    const trial = this.#choices.get(endpoint)?.trial ?? null;
    if (trial?.mode !== 'canary') return trial;
    return this.#routes.get(endpoint)?.canary?.version === trial.modelVersion ? trial : null;
  }

  installedEndpoints(): readonly InstalledEndpoint[] {
    const endpoints = this.#served.flatMap(({ endpoint }): InstalledEndpoint[] => {
      const { current, releases } = this.#routes.get(endpoint) ?? {};
      if (!current || !releases) return [];
      const others = [...releases.values()].filter(
        (release) => release.version !== current.version && this.#mayRun(endpoint, release),
      );
      const otherVersions = others.map(({ version }) => version);
      const servedValues = this.#valuesOf(endpoint, [current, ...others]);
      return [
        {
          endpoint,
          modelVersion: current.version,
          ...(otherVersions.length > 0 && { otherVersions }),
          ...(servedValues && { servedValues }),
        },
      ];
    });
    const bundles = [...this.#bundles]
      .filter(([endpoint]) => !this.#undecoded.has(endpoint))
      .map(([endpoint, modelVersion]) => ({ endpoint, modelVersion }));
    return [...endpoints, ...bundles];
  }

  /** By build; null for an endpoint that serves every value with any model. */
  #valuesOf(endpoint: string, releases: readonly RunnableRelease[]): InstalledEndpoint['servedValues'] | null {
    const valuesOf = this.#servedValues.get(endpoint);
    if (!valuesOf) return null;
    return Object.fromEntries(releases.map(({ version, model }) => [version, valuesOf(model.manifest)]));
  }

  /**
   * Runs a task on the release with this version, which need not serve by default.
   * @throws as ModelPools.run; ServiceError `model_unavailable` when it is not installed
   */
  async run(version: string, task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    const route = this.#routes.get(task.endpoint);
    // The loaded release first: its folder may just have been replaced under the same name.
    const release = route?.current?.version === version ? route.current : route?.releases.get(version);
    if (!release) throw notInstalled(task.endpoint, version);
    return await this.#pools.run(release, task, signal);
  }

  /** Rejects running and waiting tasks. Resolves when every process is gone and a reload has ended or was abandoned. */
  async close(): Promise<void> {
    await this.#pools.close();
    await Promise.race([this.#reloading, sleep(this.#options.graceMs ?? RELOAD_GRACE_MS, undefined, { ref: false })]);
  }

  async #reload({ now = false }: { now?: boolean }): Promise<void> {
    const choices = (await this.#options.readChoices?.()) ?? new Map<string, ReleaseChoice>();
    const registry = await this.#folder.read({ now });
    this.#choices = choices;
    if (registry !== this.#registry) this.#take(registry);
    if (now) {
      this.#pools.forgetFailures();
      this.#problems.clear();
    }
    await Promise.all(this.#served.map((served) => this.#follow(served, registry)));
    const current = [...this.#routes.values()].flatMap(({ current: serving, canary }) =>
      [serving, canary].flatMap((release) => release?.identity ?? []),
    );
    const installed = [...this.#releases.values()].map(({ identity }) => identity);
    this.#pools.keep(new Set(current), new Set([...current, ...installed]));
    this.#forgetProblems(new Set(installed));
    this.#reportLackOfRoom();
    const versions = new Map([...this.#routes].flatMap(([endpoint, route]) => entryOf(endpoint, route)));
    this.#bundles = await this.#options.installedBundles(versions);
  }

  #take(registry: ModelRegistry): void {
    this.#registry = registry;
    this.#releases = new Map(
      registry.models.map((model) => [
        model,
        {
          version: versionOf(model.manifest),
          identity: createHash('sha256').update(JSON.stringify(model)).digest('hex'),
          model,
          pipelines: this.#served.filter(({ tasks }) => tasks.includes(model.manifest.task)),
        },
      ]),
    );
    for (const { model, release, task } of registry.idle(new Set(this.#served.flatMap(({ tasks }) => tasks)))) {
      this.#logger.warn({ model, release, task }, 'no endpoint asks for models with this task');
    }
  }

  /** Lets the release that an operator chose serve an endpoint, otherwise the newest that runs. */
  async #follow({ endpoint, tasks }: ServedEndpoint, registry: ModelRegistry): Promise<void> {
    const candidates = registry.forTasks(tasks).flatMap((model) => this.#releases.get(model) ?? []);
    const releases = new Map(candidates.map((release) => [release.version, release]));
    if (candidates.length === 0) {
      const reason = `no model with the task ${tasks.join(' or ')} is installed`;
      this.#report(endpoint, reason, () =>
        this.#logger.warn({ endpoint, reason }, 'an endpoint cannot be served in live mode'),
      );
    } else {
      this.#problems.delete(endpoint);
    }
    const { serving, trial } = this.#choices.get(endpoint) ?? {};
    const { current: before = null, canary = null } = this.#routes.get(endpoint) ?? {};
    // The previous release serves until the choice is made, even if its folder is gone.
    if (before) this.#routes.set(endpoint, { current: before, releases, canary });
    const chosen = candidates.filter(({ version }) => version === serving);
    const others = candidates.filter(({ version }) => version !== serving && version !== trial?.modelVersion);
    const current = await this.#firstThatRuns(endpoint, [...chosen, ...others]);
    const tried = trial?.mode === 'canary' ? candidates.filter(({ version }) => version === trial.modelVersion) : [];
    this.#routes.set(endpoint, { current, releases, canary: await this.#firstThatRuns(endpoint, tried) });
    if (before && current && before.identity !== current.identity) {
      this.#logger.info(
        { endpoint, from: before.version, to: current.version },
        'an endpoint is served by another release',
      );
    }
  }

  async #firstThatRuns(endpoint: string, candidates: readonly RunnableRelease[]): Promise<RunnableRelease | null> {
    for (const release of candidates) {
      const key = problemKey(endpoint, release);
      try {
        const refused = await this.#pools.load(release);
        // Still loading: checked again on the next reload; until then another release serves.
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
          else this.#logger.error(fields, 'a release cannot be run; an older one serves if installed');
        });
      }
    }
    return null;
  }

  #mayRun(endpoint: string, release: RunnableRelease): boolean {
    if (this.#problems.has(problemKey(endpoint, release))) return false;
    return !this.#pools.hasFailed(release) && this.#pools.lackOfRoom(release) === null;
  }

  /** Logs releases that a request could pin if they fitted. Problems of default releases are logged already. */
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

  /** Forgets problems of releases that are not installed, so that one that returns unchanged is retried. */
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

function takesVideosAlone({ files }: EndpointContract): boolean {
  return files.maximum > 0 && files.mediaTypes.every((mediaType) => mediaType.startsWith('video/'));
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
