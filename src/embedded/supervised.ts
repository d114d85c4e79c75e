/** Keeps one program running: restarts it whenever it ends, until `stop` is called. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit, type RunningProgram } from './program.ts';

export interface SupervisedOptions {
  name: string;
  /** Returns once the program is ready. The signal aborts the start. */
  start: (signal: AbortSignal) => Promise<RunningProgram>;
  report: (line: string) => void;
  /** Called when the program fails repeatedly and stays stopped. */
  onGivenUp: (error: Error) => void;
  policy?: RestartPolicy;
}

export interface RestartPolicy {
  firstDelayMs: number;
  longestDelayMs: number;
  /** A program that has run for this long counts as healthy again. */
  healthyAfterMs: number;
  /** Consecutive failures after which the program stays stopped. */
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

  /** Returns once the program is ready for the first time; rejects if it never is. */
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

  /** Asks the program to stop and returns when it is gone. */
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

  /** @throws after too many consecutive failures, with the last one as its cause. */
  async #startAgain(failures: number): Promise<RunningProgram> {
    const { start, report } = this.#options;
    const { firstDelayMs, longestDelayMs, failureLimit } = this.#policy;
    const { signal } = this.#stopping;
    let cause: unknown;
    for (let count = failures; count <= failureLimit; count += 1) {
      await sleep(Math.min(firstDelayMs * 2 ** (count - 1), longestDelayMs), undefined, { signal });
      try {
        const program = await start(signal);
        // `stop` may have been called when the program was all but ready: it knows the one before only.
        if (signal.aborted) await program.stop();
        signal.throwIfAborted();
        this.#program = program;
        report(`${this.name} runs again (process ${program.pid}).`);
        return program;
      } catch (error) {
        if (signal.aborted) throw error;
        cause = error;
      }
    }
    const last = cause instanceof Error ? ` ${cause.message}` : '';
    throw new Error(`${this.name} failed ${failureLimit} times in a row and is given up.${last}`, { cause });
  }
}
