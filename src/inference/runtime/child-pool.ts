/** The child processes of one release, on one or more devices, with a shared queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { versionOf } from '../models/manifest.ts';
import type { Device } from './devices.ts';
import { ChildLostError, type ChildSettings, InferenceChild, type ReadyChild } from './inference-child.ts';
import type { InferenceTask } from './messages.ts';
import { NoCapacityError } from './no-capacity-error.ts';

export interface ChildPoolOptions extends Omit<ChildSettings, 'device'> {
  devices: readonly Device[];
  /** Processes on each device. */
  processes: number;
  /** Most tasks per process: those it decodes while it computes, and those of a batch. */
  tasksAtOnce: number;
  logger: Log;
  /** Receives the time that each task waited for a process. */
  onWaited?: (waitMs: number) => void;
  /** Pause before a lost process is replaced. It doubles with each successive process that got no work. */
  restartDelayMs?: number;
  /** How long an abandoned task, or a process told to end, may continue before the process is killed. */
  graceMs?: number;
}

interface WaitingTask {
  task: InferenceTask;
  signal: AbortSignal;
  /** Must run on a process without other tasks: it may have ended the previous process. */
  alone: boolean;
  enqueuedAtMs: number;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  /** Abort listener while the task waits. */
  leaveQueue: () => void;
  /** Limits the wait; null when only the signal limits it. */
  waitTimer: NodeJS.Timeout | null;
}

const RESTART_DELAY_MS = 100;
const LONGEST_RESTART_DELAY_MS = 30_000;
const GRACE_MS = 1_000;

export class ChildPool {
  /** Resolves with the first child's report when all are warm; rejects when one cannot be started. */
  readonly ready: Promise<ReadyChild>;
  readonly #options: ChildPoolOptions;
  readonly #graceMs: number;
  readonly #children = new Set<InferenceChild>();
  /** Children that may be given work. */
  readonly #warm = new Set<InferenceChild>();
  /** Children that run a task which must be alone. */
  readonly #isolating = new Set<InferenceChild>();
  readonly #queue: WaitingTask[] = [];
  readonly #closing = new AbortController();
  readonly #keepers: readonly Promise<void>[];

  constructor(options: ChildPoolOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS;
    const devices = options.devices.flatMap((device) => Array.from({ length: options.processes }, () => device));
    const first = devices.map((device) => ({ device, child: this.#start(device) }));
    this.ready = Promise.all(first.map(({ child }) => child.ready)).then(([child]) => child as ReadyChild);
    // An unobserved rejection would end the worker.
    this.ready.catch(() => undefined);
    this.#keepers = first.map(({ device, child }) => this.#keepRunning(device, child));
  }

  /** Process ids of the children that run now. */
  get pids(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Runs a task on the child with the fewest tasks, or on the next one with room.
   * @throws NoCapacityError when no child became free within `waitMs`; ServiceError of the pipeline;
   * `model_inference_failed` when the child is lost; `inference_timeout` when the task exceeded `timeoutMs` and its child was
   * killed; the signal's reason on abort. An aborted task is abandoned, and its child killed unless it stops within `graceMs`.
   */
  async run(task: InferenceTask, signal: AbortSignal): Promise<unknown> {
    const { waitMs } = task;
    signal.throwIfAborted();
    if (this.#closing.signal.aborted) throw closedError();
    return new Promise((resolve, reject) => {
      const leave = (reason: Error) => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        this.#stopWaiting(waiting);
        reject(reason);
        // A task behind it may have room now.
        this.#dispatch();
      };
      const waiting: WaitingTask = {
        task,
        signal,
        alone: false,
        enqueuedAtMs: performance.now(),
        resolve,
        reject,
        leaveQueue: () => leave(signal.reason as Error),
        waitTimer: waitMs === undefined ? null : setTimeout(() => leave(new NoCapacityError(waitMs)), waitMs),
      };
      this.#queue.push(waiting);
      signal.addEventListener('abort', waiting.leaveQueue, { once: true });
      this.#dispatch();
    });
  }

  #stopWaiting({ signal, leaveQueue, waitTimer }: WaitingTask): void {
    signal.removeEventListener('abort', leaveQueue);
    if (waitTimer) clearTimeout(waitTimer);
  }

  /** Rejects running and waiting tasks. Resolves when every process is gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#rejectQueue(closedError());
    await Promise.all([...this.#children].map((child) => child.stop(this.#graceMs)));
    await Promise.all(this.#keepers);
  }

  #start(device: Device): InferenceChild {
    const child = new InferenceChild({ ...this.#options, device });
    this.#children.add(child);
    return child;
  }

  /** Follows one child and, when it is lost, its successors. */
  async #keepRunning(device: Device, first: InferenceChild): Promise<void> {
    let child = first;
    let idleDeaths = 0;
    while (!this.#closing.signal.aborted) {
      const wasReady = await this.#becomesReady(child);
      if (wasReady) this.#takeWork(child);
      await child.exited;
      this.#children.delete(child);
      this.#warm.delete(child);
      if (this.#closing.signal.aborted) return;

      // A process that had work may have been ended by a picture: other pictures must not wait for its successor.
      idleDeaths = child.hadWork ? 0 : idleDeaths + 1;
      const delayMs = Math.min(
        (this.#options.restartDelayMs ?? RESTART_DELAY_MS) * 2 ** idleDeaths,
        LONGEST_RESTART_DELAY_MS,
      );
      const modelVersion = versionOf(this.#options.model.manifest);
      this.#options.logger.error(
        { modelVersion, pid: child.pid, wasReady, delayMs },
        'an inference child process ended; it is replaced',
      );
      if (!wasReady && this.#children.size === 0) {
        this.#rejectQueue(new ServiceError('model_unavailable', 'The model cannot be started at the moment.'));
      }
      // Cut short by close().
      await sleep(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      if (!this.#closing.signal.aborted) child = this.#start(device);
    }
  }

  /** False for a child that ended or can serve nothing: its model's files may have disappeared since the first start. */
  async #becomesReady(child: InferenceChild): Promise<boolean> {
    const ready = await child.ready.catch(() => null);
    if (!ready) return false;
    if (ready.refused.length < this.#options.pipelines.length) return true;
    await child.stop(this.#graceMs);
    return false;
  }

  #takeWork(child: InferenceChild): void {
    this.#warm.add(child);
    this.#dispatch();
  }

  #dispatch(): void {
    for (;;) {
      const [waiting] = this.#queue;
      const child = waiting && this.#childFor(waiting);
      if (!child) return;
      this.#queue.shift();
      this.#stopWaiting(waiting);
      this.#options.onWaited?.(performance.now() - waiting.enqueuedAtMs);
      void this.#runOn(child, waiting);
    }
  }

  #childFor({ alone }: WaitingTask): InferenceChild | undefined {
    const most = alone ? 1 : this.#options.tasksAtOnce;
    return [...this.#warm]
      .filter((child) => child.usable && !this.#isolating.has(child) && child.tasksInHand < most)
      .toSorted((a, b) => a.tasksInHand - b.tasksInHand)[0];
  }

  async #runOn(child: InferenceChild, waiting: WaitingTask): Promise<void> {
    const { task, signal, alone, resolve, reject } = waiting;
    if (alone) this.#isolating.add(child);
    const { taskId, answer } = child.run(task);
    let killTimer: NodeJS.Timeout | undefined;
    const abandon = () => {
      reject(signal.reason as Error);
      child.cancel(taskId);
      killTimer = setTimeout(() => child.kill(), this.#graceMs);
    };
    signal.addEventListener('abort', abandon, { once: true });
    const { timeoutMs } = task;
    let isOverdue = false;
    const end = () => {
      isOverdue = true;
      child.kill();
    };
    const deadline = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
    try {
      resolve(await answer);
    } catch (error) {
      // Any of several tasks may have ended or blocked the process: each runs once more, alone.
      if (error instanceof ChildLostError && error.tasksInHand > 1) this.#repeatAlone(waiting, { isLast: isOverdue });
      else if (isOverdue) reject(overdueError(timeoutMs));
      else reject(error instanceof ChildLostError ? lostError(error) : (error as Error));
    } finally {
      clearTimeout(killTimer);
      clearTimeout(deadline);
      signal.removeEventListener('abort', abandon);
      this.#isolating.delete(child);
      this.#dispatch();
    }
  }

  /** Ahead of waiting tasks; behind them when the task has used up its time. */
  #repeatAlone(waiting: WaitingTask, { isLast }: { isLast: boolean }): void {
    const { signal, reject, leaveQueue } = waiting;
    if (signal.aborted) return;
    if (this.#closing.signal.aborted) {
      reject(closedError());
      return;
    }
    if (isLast) this.#queue.push(waiting);
    else this.#queue.unshift(waiting);
    waiting.alone = true;
    waiting.enqueuedAtMs = performance.now();
    signal.addEventListener('abort', leaveQueue, { once: true });
  }

  #rejectQueue(error: ServiceError): void {
    for (const waiting of this.#queue.splice(0)) {
      this.#stopWaiting(waiting);
      waiting.reject(error);
    }
  }
}

function lostError(cause: ChildLostError): ServiceError {
  const message = 'The process that ran the model ended early. Send the request again.';
  return new ServiceError('model_inference_failed', message, { cause });
}

function overdueError(timeoutMs = 0): ServiceError {
  const message = `The model had not finished after ${timeoutMs / 1000} seconds and was stopped. Send the request again.`;
  return new ServiceError('inference_timeout', message);
}

function closedError(): ServiceError {
  return new ServiceError('model_inference_failed', 'The worker is shutting down. Send the request again.');
}
