/** Keeps one program running: started, started again whenever it ends, stopped when told. */
import { describeExit, type RunningProgram } from './program.ts';

export interface SupervisedOptions {
  name: string;
  /** Comes back once the program is ready. The signal ends it on the way there. */
  start: (signal: AbortSignal) => Promise<RunningProgram>;
  report: (line: string) => void;
  /** The program fails again and again: it stays stopped. */
  onGivenUp: (error: Error) => void;
  policy?: RestartPolicy;
}

export interface RestartPolicy {
  firstDelayMs: number;
  longestDelayMs: number;
  /** A program that ran for so long counts as healthy again. */
  healthyAfterMs: number;
  /** Failures in a row after which it is given up. */
  failureLimit: number;
}

const DEFAULT_POLICY: RestartPolicy = {
  firstDelayMs: 200,
  longestDelayMs: 5_000,
  healthyAfterMs: 10_000,
  failureLimit: 8,
};

export class Supervised {
  readonly name: string;
  readonly #options: SupervisedOptions;
  readonly #policy: RestartPolicy;
  readonly #stopping = new AbortController();
  #program: RunningProgram | null = null;
  #keeping: Promise<void> = Promise.resolve();

  private constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
    this.#policy = options.policy ?? DEFAULT_POLICY;
  }

  /** Comes back once the program is ready for the first time; rejects when it doesn't get there. */
  static async start(options: SupervisedOptions, signal: AbortSignal): Promise<Supervised> {
    const supervised = new Supervised(options);
    const either = AbortSignal.any([signal, supervised.#stopping.signal]);
    supervised.#program = await options.start(either);
    supervised.#keeping = supervised.#keepRunning(supervised.#program);
    return supervised;
  }

  get pid(): number | null {
    return this.#program?.running ? this.#program.pid : null;
  }

  /** Asks the program to stop and comes back when it is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#program?.stop();
    await this.#keeping;
  }

  async #keepRunning(first: RunningProgram): Promise<void> {
    const { report, onGivenUp } = this.#options;
    const { signal } = this.#stopping;
    let program = first;
    let failures = 0;
    for (;;) {
      const startedAtMs = performance.now();
      const exit = await program.exited;
      if (signal.aborted) return;
      const wasHealthy = performance.now() - startedAtMs >= this.#policy.healthyAfterMs;
      failures = wasHealthy ? 1 : failures + 1;
      report(`${this.name} ended (${describeExit(exit)}); starting it again.`);
      try {
        program = await this.#startAgain(failures);
      } catch (error) {
        if (!signal.aborted) onGivenUp(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }

  /** @throws the last failure when there were too many in a row. */
  async #startAgain(failures: number): Promise<RunningProgram> {
    const { start, report } = this.#options;
    const { firstDelayMs, longestDelayMs, failureLimit } = this.#policy;
    const { signal } = this.#stopping;
    let cause: unknown;
    for (let count = failures; count <= failureLimit; count += 1) {
      await delay(Math.min(firstDelayMs * 2 ** (count - 1), longestDelayMs), signal);
      signal.throwIfAborted();
      try {
        this.#program = await start(signal);
        report(`${this.name} runs again (process ${this.#program.pid}).`);
        return this.#program;
      } catch (error) {
        if (signal.aborted) throw error;
        cause = error;
      }
    }
    const last = cause instanceof Error ? ` ${cause.message}` : '';
    throw new Error(`${this.name} failed ${failureLimit} times in a row and is given up.${last}`, { cause });
  }
}

/** Ends early, without an error, when the signal comes. */
function delay(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
