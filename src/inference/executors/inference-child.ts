/** One inference child process, as its parent sees it. */
import type { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../domain/service-error.ts';
import type { InstalledModel } from '../models/registry.ts';
import { ChildAsks } from '../remote/child-asks.ts';
import type { AskServer } from '../remote/kserve-servers.ts';
import type { Device } from './devices.ts';
import { forkChild } from './fork-child.ts';
import type {
  InferenceTask,
  MessageFromChild,
  MessageToChild,
  NetworkRun,
  Refusal,
  ServedPipeline,
} from './messages.ts';
import { boundMemory, foldersOf } from './sandbox.ts';

export interface ChildSettings {
  model: InstalledModel;
  pipelines: readonly ServedPipeline[];
  device: Device;
  /** Threads of one ONNX Runtime session. */
  threads: number;
  /** What the libraries of the device need. */
  environment?: Readonly<Record<string, string>>;
  /** Most that it may take for its work, beyond what it holds when it is warm; 0 or left out for no bound. */
  workingMemoryBytes?: number;
  onRuns?: (runs: readonly NetworkRun[]) => void;
  /** Asks a server for networks that are not here. */
  askServer?: AskServer | undefined;
}

export interface ReadyChild {
  /** The endpoints it cannot serve. */
  refused: readonly Refusal[];
  /** Memory of the process when all is warm. */
  residentBytes: number;
}

/** The process ended with tasks in hand. */
export class ChildLostError extends Error {
  /** How many tasks it had: any of them may have been the cause. */
  readonly tasksInHand: number;

  constructor(tasksInHand: number) {
    super('an inference child process ended before it answered');
    this.name = 'ChildLostError';
    this.tasksInHand = tasksInHand;
  }
}

interface RunningTask {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

export class InferenceChild {
  /** Resolves when everything that it can serve is warm; rejects when it ends before that. */
  readonly ready: Promise<ReadyChild>;
  /** Resolves when the process is gone. Never rejects. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #onRuns: ChildSettings['onRuns'];
  readonly #asks: ChildAsks;
  readonly #running = new Map<number, RunningTask>();
  #lastTaskId = 0;
  #answeredTasks = 0;

  constructor(settings: ChildSettings) {
    const { model, pipelines, device, threads, environment, workingMemoryBytes = 0, onRuns, askServer } = settings;
    this.#process = forkChild(environment, foldersOf(model, pipelines));
    this.#onRuns = onRuns;
    this.#asks = new ChildAsks(askServer, (message) => this.usable && this.#send(message));
    this.exited = this.#untilExit();
    this.ready = this.#untilReady(workingMemoryBytes);
    // Whoever waits sees the rejection; nobody need wait.
    this.ready.catch(() => undefined);
    this.#process.on('message', (message: MessageFromChild) => this.#settle(message));
    this.#send({ type: 'start', threads, device, model, pipelines });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it may be given work: false from the moment it is told to end. */
  get usable(): boolean {
    const { connected, killed, exitCode, signalCode } = this.#process;
    return connected && !killed && exitCode === null && signalCode === null;
  }

  get tasksInHand(): number {
    return this.#running.size;
  }

  /** Tasks that it answered, well or badly. */
  get answeredTasks(): number {
    return this.#answeredTasks;
  }

  /**
   * Runs a task beside those it has in hand.
   * @returns the number by which it can be cancelled, and the answer
   * @throws ServiceError of the pipeline, or `model_inference_failed` when it breaks; ChildLostError when the process ends
   */
  run(task: InferenceTask): { taskId: number; answer: Promise<unknown> } {
    this.#lastTaskId += 1;
    const taskId = this.#lastTaskId;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#running.set(taskId, { resolve, reject });
      this.#send({ type: 'run', taskId, task });
    });
    return { taskId, answer };
  }

  /** Tells it that nobody waits for the answer any more: it gives the task up as soon as it comes to a step's end. */
  cancel(taskId: number): void {
    if (this.usable) this.#send({ type: 'cancel', taskId });
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Asks it to end, makes it after `graceMs`, and waits until it has. */
  async stop(graceMs: number): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.exited;
    clearTimeout(timer);
  }

  #send(message: MessageToChild): void {
    // A process that cannot be told its work is of no use; its end settles what it had in hand.
    this.#process.send(message, (error) => error && this.kill());
  }

  async #untilExit(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#process.once('exit', () => resolve());
      // Without a process id there was no process, and no exit will come.
      this.#process.on('error', () => this.#process.pid ?? resolve());
    });
    this.#asks.forgetAll();
    const lost = [...this.#running.values()];
    this.#running.clear();
    for (const { reject } of lost) reject(new ChildLostError(lost.length));
  }

  async #untilReady(workingMemoryBytes: number): Promise<ReadyChild> {
    const ready = await new Promise<ReadyChild>((resolve, reject) => {
      this.#process.on('message', (message: MessageFromChild) => {
        if (message.type === 'ready') resolve(message);
      });
      void this.exited.then(() => reject(new Error('its process ended before it was ready')));
    });
    if (this.pid === undefined || workingMemoryBytes === 0) return ready;
    try {
      await boundMemory(this.pid, workingMemoryBytes);
    } catch (error) {
      this.kill();
      throw error;
    }
    return ready;
  }

  #settle(message: MessageFromChild): void {
    this.#asks.take(message);
    if (message.type !== 'done' && message.type !== 'failed') return;
    if (message.runs.length > 0) this.#onRuns?.(message.runs);
    const running = this.#running.get(message.taskId);
    if (!running) return;
    this.#running.delete(message.taskId);
    this.#answeredTasks += 1;
    if (message.type === 'done') running.resolve(message.result);
    else if (message.code) running.reject(new ServiceError(message.code, message.message));
    else {
      const cause = new Error(message.message, { cause: message.detail });
      running.reject(new ServiceError('model_inference_failed', 'The model failed on this input.', { cause }));
    }
  }
}
