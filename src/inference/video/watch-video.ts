/** Decodes a video's facts and frames in its own process, which ends with the video. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { ServiceError } from '../../platform/service-error.ts';
import { forkInSandbox } from '../runtime/sandbox.ts';
import type {
  DecodeFigures,
  DecodeLimits,
  MessageFromDecoder,
  MessageToDecoder,
  TakenFrame,
  VideoFacts,
} from './messages.ts';
import { unreadable } from './unreadable.ts';

export interface WatchOptions {
  /** Kills the process; pending calls then reject with the signal's reason. */
  signal: AbortSignal;
  limits?: Partial<DecodeLimits>;
  /** Longest silence of the process before it is killed. */
  stallMs?: number;
  /** Called at the end of the video. */
  onEnd?: (figures: DecodeFigures) => void;
}

export interface WatchedVideo {
  facts: VideoFacts;
  /** In the order of the video. Each is decoded on demand, so one is in memory at a time. */
  frames: AsyncGenerator<TakenFrame>;
}

const LIMITS: DecodeLimits = { mostFrames: 240, leastDistanceMs: 250, residentBytes: 2 * 1024 ** 3 };
const STALL_MS = 60_000;
const MAIN = new URL('./child-main.ts', import.meta.url);

/**
 * Calls `use` with the video, and ends the process afterwards.
 * @throws ServiceError `input_unreadable` with advice for the caller; `model_inference_failed` when the process is lost
 */
export async function watchVideo<Result>(
  path: string,
  { signal, limits, stallMs = STALL_MS, onEnd }: WatchOptions,
  use: (video: WatchedVideo) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const decoder = new DecoderProcess(path, stallMs);
  const abandon = () => decoder.end(signal.reason as Error);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    decoder.send({ type: 'open', path, limits: { ...LIMITS, ...limits } });
    const facts = await decoder.receive();
    if (facts.type !== 'facts') throw new Error(`a decoder began with "${facts.type}"`);
    return await use({ facts: facts.facts, frames: framesOf(decoder, onEnd) });
  } finally {
    signal.removeEventListener('abort', abandon);
    await decoder.close();
  }
}

async function* framesOf(decoder: DecoderProcess, onEnd: WatchOptions['onEnd']): AsyncGenerator<TakenFrame> {
  for (;;) {
    const message = await decoder.receive();
    if (message.type === 'end') {
      onEnd?.(message.figures);
      return;
    }
    if (message.type !== 'frame') throw new Error(`a decoder sent "${message.type}" in place of a frame`);
    yield message.frame;
    decoder.send({ type: 'next' });
  }
}

class DecoderProcess {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #stallMs: number;
  #stallTimer: NodeJS.Timeout | undefined;
  /** Messages not yet received by the caller: facts, a frame, the end. */
  readonly #received: MessageFromDecoder[] = [];
  #failure: Error | null = null;
  #wake = () => {};

  constructor(path: string, stallMs: number) {
    this.#stallMs = stallMs;
    this.#process = forkInSandbox(MAIN, { readable: [path] });
    // The kernel should kill this process first when memory runs out. Linux only.
    void writeFile(`/proc/${this.#process.pid}/oom_score_adj`, '1000').catch(() => undefined);
    // An error without an exit means that no process was started.
    this.#exited = Promise.race([once(this.#process, 'exit'), once(this.#process, 'error')]).catch(() => undefined);
    this.#process.on('error', () => this.end(lost()));
    this.#process.on('exit', () => this.end(lost()));
    this.#process.on('message', (message: MessageFromDecoder) => this.#take(message));
  }

  send(message: MessageToDecoder): void {
    this.#process.send(message, (error) => error && this.end(lost()));
    this.#expectNews();
  }

  /** The next of facts, frame or end. */
  async receive(): Promise<Exclude<MessageFromDecoder, { type: 'working' | 'failed' }>> {
    for (;;) {
      const message = this.#received.shift();
      if (message?.type === 'failed') throw errorOf(message);
      if (message && message.type !== 'working') return message;
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Kills the process; a pending `receive` rejects with the reason. */
  end(reason: Error): void {
    this.#failure ??= reason;
    clearTimeout(this.#stallTimer);
    this.#process.kill('SIGKILL');
    this.#wake();
  }

  async close(): Promise<void> {
    this.end(new Error('the video is no longer watched'));
    await this.#exited;
  }

  #take(message: MessageFromDecoder): void {
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
    this.#stallTimer = setTimeout(() => this.end(unreadable('too slow')), this.#stallMs);
  }
}

function errorOf({ code, message }: Extract<MessageFromDecoder, { type: 'failed' }>): ServiceError {
  if (code) return new ServiceError(code, message, { param: 'video' });
  const cause = new Error(message);
  return new ServiceError('model_inference_failed', 'Decoding the video failed. Send the request again.', { cause });
}

function lost(): ServiceError {
  const message = 'The process that decoded the video ended early. Send the request again.';
  return new ServiceError('model_inference_failed', message);
}
