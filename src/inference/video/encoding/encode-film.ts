/** Encodes a film in its own process, which ends with the film. */
import { ServiceError } from '../../../platform/service-error.ts';
import { type ProblemsOf, VideoProcess } from '../video-process.ts';
import type { FilmPlan, MessageFromEncoder, MessageToEncoder } from './messages.ts';

export interface EncodeOptions {
  /** Kills the process; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Longest silence of the process before it is killed. */
  stallMs?: number;
  /** Called at the end of the film. */
  onEnd?: (figures: { peakResidentBytes: number }) => void;
}

const STALL_MS = 60_000;
const MAIN = new URL('./child-main.ts', import.meta.url);

/**
 * @param jpegs in the order of the film, each of its size
 * @returns an MP4
 * @throws ServiceError `model_inference_failed` when the process fails, is lost or stalls
 */
export async function encodeFilm(
  plan: FilmPlan,
  jpegs: readonly Uint8Array[],
  { signal, stallMs = STALL_MS, onEnd }: EncodeOptions,
): Promise<Uint8Array> {
  signal.throwIfAborted();
  const encoder = new VideoProcess<MessageToEncoder, MessageFromEncoder>(MAIN, { signal, stallMs, problems: PROBLEMS });
  try {
    encoder.send({ type: 'begin', plan });
    for (let sent = 0; ; sent += 1) {
      const message = await encoder.receive();
      if (message.type === 'failed') throw failed('Encoding the film failed.', new Error(message.message));
      if (message.type === 'film') {
        onEnd?.(message);
        return message.mp4;
      }
      const jpeg = jpegs[sent];
      if (!jpeg) throw new Error(`a film of ${jpegs.length} pictures wants more`);
      encoder.send({ type: 'picture', jpeg });
    }
  } finally {
    await encoder.close();
  }
}

const PROBLEMS: ProblemsOf = {
  lost: () => failed('The process that encoded the film ended early.'),
  stalled: () => failed('Encoding the film stalled.'),
};

function failed(what: string, cause?: Error): ServiceError {
  return new ServiceError('model_inference_failed', `${what} Send the request again.`, { cause });
}
