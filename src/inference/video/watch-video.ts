/** Decodes a video's facts and frames in its own process, which ends with the video. */
import { ServiceError } from '../../platform/service-error.ts';
import type {
  DecodeFigures,
  DecodeLimits,
  MessageFromDecoder,
  MessageToDecoder,
  TakenFrame,
  VideoFacts,
} from './messages.ts';
import { unreadable } from './unreadable.ts';
import { type ProblemsOf, VideoProcess } from './video-process.ts';

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

type DecoderProcess = VideoProcess<MessageToDecoder, MessageFromDecoder>;

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
  const decoder: DecoderProcess = new VideoProcess(MAIN, { signal, stallMs, readable: [path], problems: PROBLEMS });
  try {
    decoder.send({ type: 'open', path, limits: { ...LIMITS, ...limits } });
    const facts = await receive(decoder);
    if (facts.type !== 'facts') throw new Error(`a decoder began with "${facts.type}"`);
    return await use({ facts: facts.facts, frames: framesOf(decoder, onEnd) });
  } finally {
    await decoder.close();
  }
}

async function* framesOf(decoder: DecoderProcess, onEnd: WatchOptions['onEnd']): AsyncGenerator<TakenFrame> {
  for (;;) {
    const message = await receive(decoder);
    if (message.type === 'end') {
      onEnd?.(message.figures);
      return;
    }
    if (message.type !== 'frame') throw new Error(`a decoder sent "${message.type}" in place of a frame`);
    yield message.frame;
    decoder.send({ type: 'next' });
  }
}

/** The next of facts, frame or end. */
async function receive(decoder: DecoderProcess): Promise<Exclude<MessageFromDecoder, { type: 'working' | 'failed' }>> {
  const message = await decoder.receive();
  if (message.type !== 'failed') return message;
  const { code, message: text } = message;
  if (code) throw new ServiceError(code, text, { param: 'video' });
  const cause = new Error(text);
  throw new ServiceError('model_inference_failed', 'Decoding the video failed. Send the request again.', { cause });
}

const PROBLEMS: ProblemsOf = {
  lost: () =>
    new ServiceError(
      'model_inference_failed',
      'The process that decoded the video ended early. Send the request again.',
    ),
  stalled: () => unreadable('too slow'),
};
