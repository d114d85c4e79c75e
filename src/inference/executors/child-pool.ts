/** A fixed number of inference child processes that share one queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../domain/service-error.ts';
import type { Log } from '../log.ts';
import { type ChildSettings, InferenceChild, type Refusal } from './inference-child.ts';
import type { InferenceTask } from './messages.ts';

export interface ChildPoolOptions extends ChildSettings {
  children: number;
  logger: Log;
  /** Pause before a lost process is replaced; doubles with each one in turn that did no work. */
  restartDelayMs?: number;
  /** How long an abandoned task, or a process told to end, may go on before the process is killed. */
  graceMs?: number;
}

interface WaitingTask {
  task: InferenceTask;
  signal: AbortSignal;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  /** Listens to the signal while the task waits. */
  leaveQueue: () => void;
}

const RESTART_DELAY_MS = 100;
const LONGEST_RESTART_DELAY_MS = 30_000;
const GRACE_MS = 1_000;

export class ChildPool {
  /** Resolves when every child is warm, with the endpoints they cannot serve; rejects when one cannot be started. */
  readonly ready: Promise<readonly Refusal[]>;
  readonly #options: ChildPoolOptions;
  readonly #graceMs: number;
  readonly #children = new Set<InferenceChild>();
  readonly #queue: WaitingTask[] = [];
  readonly #closing = new AbortController();
  readonly #keepers: readonly Promise<void>[];
  #idle: InferenceChild[] = [];

  constructor(options: ChildPoolOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS;
    const first = Array.from({ length: options.children }, () => this.#start());
    this.ready = Promise.all(first.map((child) => child.ready)).then((refusals) => refusals[0] ?? []);
    this.#keepers = first.map((child) => this.#keepRunning(child));
  }

  /** Process ids of the children that run now. */
  get pids(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Runs a task on the next free child.
   * @throws ServiceError of the pipeline; `model_inference_failed` when its child is lost. The signal's reason on abort:
   * the task is then abandoned, and its child killed unless it finishes soon.
   */
  async run(task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (this.#closing.signal.aborted) throw closedError();
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal.reason as Error);
      };
      const waiting: WaitingTask = { task, signal, resolve, reject, leaveQueue };
      this.#queue.push(waiting);
      signal.addEventListener('abort', waiting.leaveQueue, { once: true });
      this.#dispatch();
    });
  }

  /** Rejects what runs or waits, and returns when every process is gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#rejectQueue(closedError());
    await Promise.all([...this.#children].map((child) => child.stop(this.#graceMs)));
    await Promise.all(this.#keepers);
  }

  #start(): InferenceChild {
    const child = new InferenceChild(this.#options);
    this.#children.add(child);
    return child;
  }

  /** Follows one child and, when it is lost, its successors. */
  async #keepRunning(first: InferenceChild): Promise<void> {
    let child = first;
    let idleDeaths = 0;
    while (!this.#closing.signal.aborted) {
      const wasReady = await child.ready.then(
        () => true,
        () => false,
      );
      if (wasReady) this.#takeWork(child);
      await child.exited;
      this.#children.delete(child);
      this.#idle = this.#idle.filter((other) => other !== child);
      if (this.#closing.signal.aborted) return;

      idleDeaths = child.answeredTasks > 0 ? 0 : idleDeaths + 1;
      const delayMs = Math.min(
        (this.#options.restartDelayMs ?? RESTART_DELAY_MS) * 2 ** idleDeaths,
        LONGEST_RESTART_DELAY_MS,
      );
      this.#options.logger.error(
        { pid: child.pid, wasReady, delayMs },
        'an inference child process ended; it is replaced',
      );
      if (!wasReady && this.#children.size === 0) {
        this.#rejectQueue(new ServiceError('model_unavailable', 'The model cannot be started at the moment.'));
      }
      // Cut short by close().
      await sleep(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      if (!this.#closing.signal.aborted) child = this.#start();
    }
  }

  #takeWork(child: InferenceChild): void {
    if (!child.usable) return;
    this.#idle.push(child);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const child = this.#idle.shift();
      if (!child) return;
      // A child that is about to be gone must not take a task with it.
      if (!child.usable) continue;
      const waiting = this.#queue.shift();
      if (!waiting) return;
      waiting.signal.removeEventListener('abort', waiting.leaveQueue);
      void this.#runOn(child, waiting);
    }
  }

  async #runOn(child: InferenceChild, { task, signal, resolve, reject }: WaitingTask): Promise<void> {
    let killTimer: NodeJS.Timeout | undefined;
    const abandon = () => {
      reject(signal.reason as Error);
      killTimer = setTimeout(() => child.kill(), this.#graceMs);
    };
    signal.addEventListener('abort', abandon, { once: true });
    try {
      resolve(await child.run(task));
    } catch (error) {
      reject(error as Error);
    } finally {
      clearTimeout(killTimer);
      signal.removeEventListener('abort', abandon);
      this.#takeWork(child);
    }
  }

  #rejectQueue(error: ServiceError): void {
    for (const { signal, reject, leaveQueue } of this.#queue.splice(0)) {
      signal.removeEventListener('abort', leaveQueue);
      reject(error);
    }
  }
}

function closedError(): ServiceError {
  return new ServiceError('model_inference_failed', 'The worker is shutting down. Send the request again.');
}
