/** One inference child process, as its parent sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { ServiceError } from '../../domain/service-error.ts';
import type { InferenceTask, MessageFromChild, MessageToChild, ServedEndpoint } from './messages.ts';

export interface ChildSettings {
  endpoints: readonly ServedEndpoint[];
  /** Threads of one ONNX Runtime session. */
  threads: number;
}

export interface Refusal {
  endpoint: string;
  reason: string;
}

interface RunningTask {
  id: number;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

const MAIN = new URL('./child-main.ts', import.meta.url);

export class InferenceChild {
  /** Resolves with the endpoints it cannot serve when all others are warm; rejects when it ends before that. */
  readonly ready: Promise<readonly Refusal[]>;
  /** Resolves when the process is gone. Never rejects. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  #running: RunningTask | null = null;
  #lastTaskId = 0;
  #answeredTasks = 0;

  constructor({ endpoints, threads }: ChildSettings) {
    this.#process = fork(MAIN, {
      serialization: 'advanced',
      // No secrets for a process that decodes strangers' files. Two arenas: glibc's default lets decoding hoard memory.
      env: { MALLOC_ARENA_MAX: '2' },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.exited = this.#untilExit();
    this.ready = this.#untilReady();
    // Whoever waits sees the rejection; nobody need wait.
    this.ready.catch(() => undefined);
    this.#process.on('message', (message: MessageFromChild) => this.#settle(message));
    this.#send({ type: 'start', threads, endpoints });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it may be given work: false from the moment it is told to end. */
  get usable(): boolean {
    const { connected, killed, exitCode, signalCode } = this.#process;
    return connected && !killed && exitCode === null && signalCode === null;
  }

  /** Tasks that it answered, well or badly. */
  get answeredTasks(): number {
    return this.#answeredTasks;
  }

  /**
   * Runs one task; the caller waits for the end of the one before.
   * @throws ServiceError of the pipeline; `model_inference_failed` when the process ends or the pipeline breaks.
   */
  run(task: InferenceTask): Promise<unknown> {
    if (this.#running) throw new Error('an inference child runs one task at a time');
    this.#lastTaskId += 1;
    const taskId = this.#lastTaskId;
    return new Promise((resolve, reject) => {
      this.#running = { id: taskId, resolve, reject };
      this.#send({ type: 'run', taskId, task });
    });
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
    const lost = 'The process that ran the model ended before it answered. Send the request again.';
    this.#running?.reject(new ServiceError('model_inference_failed', lost));
    this.#running = null;
  }

  async #untilReady(): Promise<readonly Refusal[]> {
    return new Promise((resolve, reject) => {
      this.#process.on('message', (message: MessageFromChild) => {
        if (message.type === 'ready') resolve(message.refused);
      });
      void this.exited.then(() => reject(new Error('an inference child process ended before it was ready')));
    });
  }

  #settle(message: MessageFromChild): void {
    const running = this.#running;
    if (message.type === 'ready' || running?.id !== message.taskId) return;
    this.#running = null;
    this.#answeredTasks += 1;
    if (message.type === 'done') running.resolve(message.result);
    else if (message.code) running.reject(new ServiceError(message.code, message.message));
    else {
      const cause = new Error(message.message, { cause: message.detail });
      running.reject(new ServiceError('model_inference_failed', 'The model failed on this input.', { cause }));
    }
  }
}
