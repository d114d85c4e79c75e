/** The releases that did not start: which may be retried and when, and the error of a job that pins one. */
import { ServiceError } from '../../platform/service-error.ts';
import { asksServers, type RunnableRelease } from './runnable-release.ts';

/** Pause before a release that may start the next time is tried again. */
const RETRY_MS = 60_000;

/** The release, or every pipeline on it, would fail the same way again. */
export class RefusedReleaseError extends Error {}

export class ReleaseFailures {
  readonly #clock: () => number;
  readonly #failed = new Map<string, { error: Error; untilMs: number }>();

  /** @param clock milliseconds that never go back */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add({ identity, model }: RunnableRelease, error: Error): void {
    // A server that runs a network of it may only be away.
    const isForGood = error instanceof RefusedReleaseError && !asksServers(model);
    this.#failed.set(identity, { error, untilMs: isForGood ? Number.POSITIVE_INFINITY : this.#clock() + RETRY_MS });
  }

  /** Why the release is not tried now; null where it may be. */
  current({ identity }: RunnableRelease): Error | null {
    const failed = this.#failed.get(identity);
    return failed && this.#clock() < failed.untilMs ? failed.error : null;
  }

  /** The failure of a job that pins a release which did not start, does not fit, or refuses the job's endpoint. */
  refusal(release: RunnableRelease): ServiceError {
    const error = this.#failed.get(release.identity)?.error;
    if (error && !this.#isForGood(release)) return unavailable(release, error, 'for now');
    const { code, message } = unavailable(release, error, 'for good');
    return new ServiceError(code, message, { cause: error, isForGood: true });
  }

  /** The failure of a job that runs into `cause` while it waits for its release. */
  failureOf(release: RunnableRelease, cause: Error): ServiceError {
    return unavailable(release, cause, this.#isForGood(release) ? 'for good' : 'for now');
  }

  /** Forgets releases that are not installed: a folder may come back unchanged. */
  keepOnly(installed: ReadonlySet<string>): void {
    for (const identity of this.#failed.keys()) if (!installed.has(identity)) this.#failed.delete(identity);
  }

  clear(): void {
    this.#failed.clear();
  }

  #isForGood({ identity }: RunnableRelease): boolean {
    return this.#failed.get(identity)?.untilMs === Number.POSITIVE_INFINITY;
  }
}

/** Retryable either way: another worker may be able to run the release. */
export function unavailable({ version }: RunnableRelease, cause: unknown, until: 'for now' | 'for good'): ServiceError {
  const message =
    until === 'for now'
      ? `${version} cannot be run at the moment. Send the request again.`
      : `${version} cannot be run. Name another build in Model-Version, or none.`;
  return new ServiceError('model_unavailable', message, { cause });
}
