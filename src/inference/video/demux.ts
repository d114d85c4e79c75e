/** Reads a video file's packets in small batches. Runs in the decoding process only. */
import { type EncodedVideoChunk, Mp4Demuxer, WebMDemuxer } from '@napi-rs/webcodecs';
import type { Container } from './container.ts';
import { unreadable } from './unreadable.ts';

const DEMUXERS = { mp4: Mp4Demuxer, webm: WebMDemuxer };

export interface Packets {
  readonly demuxer: Mp4Demuxer | WebMDemuxer;
  /** The video packets among the next `count` packets of all tracks; null at the end of the file. */
  next(count: number): Promise<EncodedVideoChunk[] | null>;
}

export async function openPackets(path: string, container: Container): Promise<Packets> {
  let chunks: EncodedVideoChunk[] = [];
  let failure: Error | null = null;
  const demuxer = new DEMUXERS[container]({
    videoOutput: (chunk) => chunks.push(chunk),
    error: (error) => {
      failure = error;
    },
  });
  try {
    await demuxer.load(path);
  } catch (error) {
    throw unreadable('damaged', { cause: error });
  }
  return {
    demuxer,
    async next(count) {
      if (demuxer.state === 'ended') return null;
      try {
        await demuxer.demuxAsync(count);
      } catch (error) {
        throw unreadable('damaged', { cause: error });
      }
      // Packets arrive in separate callbacks.
      await new Promise(setImmediate);
      if (failure) throw unreadable('damaged', { cause: failure });
      const taken = chunks;
      chunks = [];
      return taken;
    },
  };
}
