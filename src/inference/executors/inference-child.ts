/** One inference child process, as its parent sees it. */
import type { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../domain/service-error.ts';
import { type InstalledModel, memoryMbOf } from '../models/registry.ts';
import { ChildAsks } from '../remote/child-asks.ts';
import type { AskServer } from '../remote/kserve-servers.ts';
import type { Device } from './devices.ts';
import type {
  InferenceTask,
  MessageFromChild,
  MessageToChild,
  NetworkRun,
  Refusal,
  ServedPipeline,
} from './messages.ts';
import { boundMemory, foldersOf, forkInSandbox } from './sandbox.ts';

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
  /** How long its model may take until it is warm. */
  readyTimeoutMs?: number;
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

/** Of a network that runs on zeros without end, say. TensorRT builds its engines meanwhile, which takes many minutes. */
const READY_TIMEOUT_MS = { cpu: 5 * 60_000, cuda: 5 * 60_000, tensorrt: 60 * 60_000 };

/** What Node.js and its libraries take before there is a model. */
const PROCESS_BYTES = 1e9;

/** The process was not ready in time: another would not be either. */
export class NotReadyInTimeError extends Error {
  override readonly name = 'NotReadyInTimeError';
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

const MAIN = new URL('./child-main.ts', import.meta.url);

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

  constructor(settings: ChildSettings) {
    const { model, pipelines, device, threads, environment, workingMemoryBytes = 0, onRuns, askServer } = settings;
    const { readyTimeoutMs = READY_TIMEOUT_MS[device.provider] } = settings;
    this.#process = forkInSandbox(MAIN, { readable: foldersOf(model, pipelines), environment });
    this.#onRuns = onRuns;
    this.#asks = new ChildAsks(askServer, (message) => this.usable && this.#send(message));
    this.exited = this.#untilExit();
    this.ready = this.#untilReady({ model, workingMemoryBytes, readyTimeoutMs });
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

  /** Whether it was ever given a task. */
  get hadWork(): boolean {
    return this.#lastTaskId > 0;
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

  async #untilReady({
    model,
    workingMemoryBytes,
    readyTimeoutMs,
  }: Pick<ChildSettings, 'model'> & { workingMemoryBytes: number; readyTimeoutMs: number }): Promise<ReadyChild> {
    const ready = new Promise<ReadyChild>((resolve, reject) => {
      this.#process.on('message', (message: MessageFromChild) => {
        if (message.type === 'ready') resolve(message);
      });
      void this.exited.then(() => reject(new Error('its process ended before it was ready')));
    });
    // Whoever else fails first, this one is heard of below.
    ready.catch(() => undefined);
    try {
      const { pid } = this;
      const isBounded = pid !== undefined && workingMemoryBytes > 0;
      const loads = PROCESS_BYTES + memoryMbOf(model) * 1e6 + workingMemoryBytes;
      if (isBounded) await boundMemory(pid, loads, { mayChange: true });
      const answer = await this.#inTime(ready, readyTimeoutMs);
      if (isBounded) await boundMemory(pid, workingMemoryBytes);
      return answer;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  async #inTime<Answer>(work: Promise<Answer>, timeoutMs: number): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const problem = `it was not ready after ${timeoutMs / 1000} seconds: a file does not load, or its warm-up does not end`;
      timer = setTimeout(() => reject(new NotReadyInTimeError(problem)), timeoutMs);
    });
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  }

  #settle(message: MessageFromChild): void {
    this.#asks.take(message);
    if (message.type !== 'done' && message.type !== 'failed') return;
    if (message.runs.length > 0) this.#onRuns?.(message.runs);
    const running = this.#running.get(message.taskId);
    if (!running) return;
    this.#running.delete(message.taskId);
    if (message.type === 'done') running.resolve(message.result);
    else if (message.code) running.reject(new ServiceError(message.code, message.message));
    else {
      const cause = new Error(message.message, { cause: message.detail });
      running.reject(new ServiceError('model_inference_failed', 'The model failed on this input.', { cause }));
    }
  }
}
