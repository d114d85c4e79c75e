/** A process that decodes or encodes one video, as its parent sees it. It ends with the video. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { forkInSandbox } from '../runtime/sandbox.ts';

/** What the caller is told when the process fails without saying why. */
export interface ProblemsOf {
  /** It ended early. */
  lost(): Error;
  /** It was silent for too long, and was killed. */
  stalled(): Error;
}

export interface VideoProcessOptions {
  /** Kills the process; pending calls then reject with the signal's reason. */
  signal: AbortSignal;
  /** Longest silence of the process before it is killed. */
  stallMs: number;
  /** Files that it may read besides its code. */
  readable?: readonly string[];
  problems: ProblemsOf;
}

export class VideoProcess<ToChild extends { type: string }, FromChild extends { type: string }> {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #options: VideoProcessOptions;
  readonly #abandon: () => void;
  #stallTimer: NodeJS.Timeout | undefined;
  /** Messages not yet received by the caller. */
  readonly #received: FromChild[] = [];
  #failure: Error | null = null;
  #wake = () => {};

  constructor(main: URL, options: VideoProcessOptions) {
    const { signal, readable = [], problems } = options;
    this.#options = options;
    this.#process = forkInSandbox(main, { readable });
    // The kernel should kill this process first when memory runs out. Linux only.
    void writeFile(`/proc/${this.#process.pid}/oom_score_adj`, '1000').catch(() => undefined);
    // An error without an exit means that no process was started.
    this.#exited = Promise.race([once(this.#process, 'exit'), once(this.#process, 'error')]).catch(() => undefined);
    this.#process.on('error', () => this.#end(problems.lost()));
    this.#process.on('exit', () => this.#end(problems.lost()));
    this.#process.on('message', (message: FromChild) => this.#take(message));
    this.#abandon = () => this.#end(signal.reason as Error);
    signal.addEventListener('abort', this.#abandon, { once: true });
  }

  send(message: ToChild): void {
    this.#process.send(message, (error) => error && this.#end(this.#options.problems.lost()));
    this.#expectNews();
  }

  /** The next message that is no mere sign of progress. */
  async receive(): Promise<Exclude<FromChild, { type: 'working' }>> {
    for (;;) {
      const message = this.#received.shift();
      if (message) return message as Exclude<FromChild, { type: 'working' }>;
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Kills the process, and waits until it is gone. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#abandon);
    this.#end(new Error('the process of this video is no longer needed'));
    await this.#exited;
  }

  /** Kills the process; a pending `receive` rejects with the reason. */
  #end(reason: Error): void {
    this.#failure ??= reason;
    clearTimeout(this.#stallTimer);
    this.#process.kill('SIGKILL');
    this.#wake();
  }

  #take(message: FromChild): void {
    clearTimeout(this.#stallTimer);
    if (message.type === 'working') {
      this.#expectNews();
      return;
    }
    this.#received.push(message);
    this.#wake();
  }

  #expectNews(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = setTimeout(() => this.#end(this.#options.problems.stalled()), this.#options.stallMs);
  }
}
