/** A video file → its packets, one small run at a time. Runs in the decoding process only. */
import { type EncodedVideoChunk, Mp4Demuxer, WebMDemuxer } from '@napi-rs/webcodecs';
import type { Container } from './container.ts';
import { unreadable } from './unreadable.ts';

const DEMUXERS = { mp4: Mp4Demuxer, webm: WebMDemuxer };

export interface Packets {
  readonly demuxer: Mp4Demuxer | WebMDemuxer;
  /** At most `count` packets on, those of other tracks counted; null at the end of the file. */
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
      // The packets come by callbacks of their own.
      await new Promise(setImmediate);
      if (failure) throw unreadable('damaged', { cause: failure });
      const taken = chunks;
      chunks = [];
      return taken;
    },
  };
}
