/** One inference child process, as its parent sees it. */
import { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../platform/service-error.ts';
import { type InstalledModel, memoryMbOf } from '../models/registry.ts';
import type { Device } from './devices.ts';
import { forkInferenceChild } from './fork-inference-child.ts';
import { ChildAsks } from './kserve/child-asks.ts';
import type { AskServer } from './kserve/kserve-servers.ts';
import type {
  FileAnswer,
  InferenceTask,
  MessageFromChild,
  MessageToChild,
  NetworkRun,
  Refusal,
  SentTask,
  ServedPipeline,
  TaskFile,
} from './messages.ts';
import { boundMemory, foldersOf } from './sandbox.ts';

export interface ChildSettings {
  model: InstalledModel;
  pipelines: readonly ServedPipeline[];
  device: Device;
  /** Threads of one ONNX Runtime session. */
  threads: number;
  /** Environment variables that the device's libraries need. */
  environment?: Readonly<Record<string, string>>;
  /** Memory that it may allocate beyond what it holds when warm; no bound when 0 or omitted. */
  workingMemoryBytes?: number;
  /** Longest warm-up of its model. */
  readyTimeoutMs?: number;
  onRuns?: (runs: readonly NetworkRun[]) => void;
  /** Sends requests for networks that run on a KServe server. */
  askServer?: AskServer | undefined;
  /** Starts the process. */
  fork?: typeof forkInferenceChild;
}

export interface ReadyChild {
  /** Endpoints that it cannot serve. */
  refused: readonly Refusal[];
  /** Resident memory of the process after the warm-up. */
  residentBytes: number;
}

/** Ends a warm-up that never finishes. TensorRT builds its engines during it, which takes many minutes. */
const READY_TIMEOUT_MS = { cpu: 5 * 60_000, cuda: 5 * 60_000, tensorrt: 60 * 60_000 };

/** What Node.js and its libraries allocate before any model is loaded. */
const PROCESS_BYTES = 1e9;

/** The process was not ready in time. A retry would not help. */
export class NotReadyInTimeError extends Error {
  override readonly name = 'NotReadyInTimeError';
}

/** The process ended with tasks in hand. */
export class ChildLostError extends Error {
  /** Number of tasks it had; any of them may have been the cause. */
  readonly tasksInHand: number;

  constructor(tasksInHand: number) {
    super('an inference child process ended before it answered');
    this.name = 'ChildLostError';
    this.tasksInHand = tasksInHand;
  }
}

interface RunningTask {
  files: InferenceTask['files'];
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

export class InferenceChild {
  /** Resolves when everything that it can serve is warm; rejects when the process ends first, or cannot be started. */
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
    const { readyTimeoutMs = READY_TIMEOUT_MS[device.provider], fork = forkInferenceChild } = settings;
    this.#process = processOf(() => fork({ readable: foldersOf(model, pipelines), environment }));
    this.#onRuns = onRuns;
    this.#asks = new ChildAsks(askServer, (message) => this.usable && this.#send(message));
    this.exited = this.#untilExit();
    this.ready = this.#untilReady({ model, workingMemoryBytes, readyTimeoutMs });
    // An unobserved rejection would end the worker.
    this.ready.catch(() => undefined);
    this.#process.on('message', (message: MessageFromChild) => this.#settle(message));
    // Without a channel it was not started, and ends with its `error` event.
    if (this.usable) this.#send({ type: 'start', threads, device, model, pipelines });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it may be given work: false once it has been told to end. */
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
   * Runs a task beside those already in hand.
   * @returns the id by which the task can be cancelled, and its result
   * @throws ServiceError of the pipeline, or `model_inference_failed` when it breaks; ChildLostError when the process ends
   */
  run(task: InferenceTask): { taskId: number; answer: Promise<unknown> } {
    this.#lastTaskId += 1;
    const taskId = this.#lastTaskId;
    const answer = new Promise<unknown>((resolve, reject) => {
      const { endpoint, files, parameters } = task;
      this.#running.set(taskId, { files, resolve, reject });
      this.#send({ type: 'run', taskId, task: { endpoint, files: files.map(toSent), parameters } });
    });
    return { taskId, answer };
  }

  /** Tells it that the task's caller has gone. It abandons the task at the end of the current step. */
  cancel(taskId: number): void {
    if (this.usable) this.#send({ type: 'cancel', taskId });
  }

  kill(): void {
    // What was not started has no id of its own: the signal could reach others.
    if (this.pid !== undefined) this.#process.kill('SIGKILL');
  }

  /** Asks the process to end, kills it after `graceMs`, and waits until it is gone. */
  async stop(graceMs: number): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.exited;
    clearTimeout(timer);
  }

  #send(message: MessageToChild): void {
    // A process that cannot be reached is useless; its exit settles the tasks in hand.
    this.#process.send(message, (error) => error && this.kill());
  }

  async #untilExit(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#process.once('exit', () => resolve());
      // Without a process id no process was started, so no exit event follows.
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
      this.#process.once('error', (error) => this.pid ?? reject(error));
      void this.exited.then(() => reject(new Error('its process ended before it was ready')));
    });
    // Awaited below; another failure may come first.
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
    if (message.type === 'read') void this.#answerRead(message);
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
  async #answerRead({ readId, taskId, file }: Extract<MessageFromChild, { type: 'read' }>): Promise<void> {
    const content = this.#running.get(taskId)?.files[file]?.content;
    let answer: FileAnswer;
    try {
      if (typeof content !== 'function') throw new Error(`task ${taskId} has no file ${file} to read`);
      answer = { content: await content() };
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : 'model_inference_failed';
      answer = { code, message: (error as Error).message };
    }
    if (this.usable) this.#send({ type: 'content', readId, answer });
  }
}

/** The process, or one that was not started and tells so by an `error` event, as most such failures of a fork do. */
function processOf(fork: () => ChildProcess): ChildProcess {
  try {
    return fork();
  } catch (error) {
    const unstarted = new ChildProcess();
    process.nextTick(() => unstarted.emit('error', error));
    return unstarted;
  }
}

function toSent({ content, ...file }: TaskFile): SentTask['files'][number] {
  return { ...file, content: typeof content === 'function' ? null : content };
}
