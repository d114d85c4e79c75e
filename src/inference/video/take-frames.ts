/**
 * Takes frames evenly over a video, one at a time: nothing is decoded ahead. Runs in the decoding process only.
 */
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EncodedVideoChunk, VideoDecoder, type VideoFrame } from '@napi-rs/webcodecs';
import { containerOf } from './container.ts';
import { openPackets, type Packets } from './demux.ts';
import { type Rotation, readRotation } from './display-rotation.ts';
import { isShown } from './is-shown.ts';
import type { DecodeLimits, VideoFacts } from './messages.ts';
import { type Survey, surveyOf } from './survey.ts';
import { unreadable, VIDEO_PIXELS } from './unreadable.ts';

export interface FrameOfVideo {
  /** The caller closes it. */
  frame: VideoFrame;
  timeOffsetMs: number;
}

export interface OpenedVideo {
  facts: VideoFacts;
  rotation: Rotation;
  frames: AsyncGenerator<FrameOfVideo>;
}

export interface FrameCount {
  decoded: number;
  held: number;
  mostHeld: number;
}

/** Packets given to the decoder at once. This many frames, plus those the decoder holds back, may be in memory. */
const PACKETS = 8;
/** Most packets read after a seek before a key frame must appear. */
const PACKETS_TO_KEY_FRAME = 2_000;

/** @throws ServiceError `input_unreadable` */
export async function openVideo(
  path: string,
  { mostFrames, leastDistanceMs }: DecodeLimits,
  { count, tell }: { count: FrameCount; tell: () => void },
): Promise<OpenedVideo> {
  const file = await open(path);
  const { size } = await file.stat();
  const head = await file.read(Buffer.alloc(16), { position: 0 });
  const container = containerOf(head.buffer.subarray(0, head.bytesRead));
  if (!container) {
    await file.close();
    throw unreadable('not a video');
  }
  const rotation = container === 'mp4' ? await readRotation(file, size) : 0;
  await file.close();

  const surveyed = await openPackets(path, container);
  const { videoDecoderConfig: config, tracks } = surveyed.demuxer;
  if (!config || !tracks.some(({ trackType }) => trackType === 'video')) throw unreadable('no picture');
  if (config.codedWidth * config.codedHeight > VIDEO_PIXELS) throw unreadable('too large');
  const { supported } = await VideoDecoder.isConfigSupported(config).catch(() => ({ supported: false }));
  if (!supported) throw unreadable('codec');
  const survey = await surveyOf(surveyed, tell);
  surveyed.demuxer.close();

  const distance = Math.max(leastDistanceMs * 1_000, survey.duration / mostFrames);
  const { codedWidth, codedHeight } = config;
  const [width, height] = rotation % 180 === 0 ? [codedWidth, codedHeight] : [codedHeight, codedWidth];
  const packets = await openPackets(path, container);
  return {
    facts: {
      durationMs: Math.max(1, Math.round(survey.duration / 1_000)),
      width,
      height,
      framesPerSecond: survey.duration > 0 ? survey.frames / (survey.duration / 1_000_000) : 1,
      frameDistanceMs: distance / 1_000,
    },
    rotation,
    frames: takeFrames(packets, { config, survey, distance, count, tell }),
  };
}

interface Decoding {
  config: NonNullable<Packets['demuxer']['videoDecoderConfig']>;
  survey: Survey;
  /** Between two frames, in microseconds. */
  distance: number;
  count: FrameCount;
  tell: () => void;
}

interface Running extends Decoding {
  decoder: VideoDecoder;
  order: PresentationOrder;
  feed: (chunk: EncodedVideoChunk) => void;
}

async function* takeFrames(packets: Packets, decoding: Decoding): AsyncGenerator<FrameOfVideo> {
  const { survey, distance, count } = decoding;
  const wanted: FrameOfVideo[] = [];
  const order = createPresentationOrder();
  let failure: Error | null = null;
  let nextAt = 0;

  const close = (frame: VideoFrame) => {
    frame.close();
    count.held -= 1;
  };
  const decoder = new VideoDecoder({
    output: (frame) => {
      count.decoded += 1;
      count.held += 1;
      count.mostHeld = Math.max(count.mostHeld, count.held);
      const at = order.shown() - survey.first;
      if (at < nextAt) {
        close(frame);
        return;
      }
      nextAt = at - (at % distance) + distance;
      wanted.push({ frame, timeOffsetMs: Math.max(0, Math.round(at / 1_000)) });
    },
    error: (error) => {
      failure = error;
    },
  });
  decoder.configure({ ...decoding.config, hardwareAcceleration: 'prefer-software' });

  async function* taken() {
    if (failure) throw unreadable('damaged', { cause: failure });
    for (let next = wanted.shift(); next; next = wanted.shift()) {
      const { frame } = next;
      try {
        if (frame.codedWidth * frame.codedHeight > VIDEO_PIXELS) throw unreadable('too large');
        yield next;
      } finally {
        close(frame);
      }
    }
  }

  const feed = (chunk: EncodedVideoChunk) => {
    if (isShown(chunk, decoding.config.codec)) order.decoding(chunk.timestamp);
    decoder.decode(chunk);
  };
  const decode = survey.longestGap <= distance && survey.frames > 1 ? decodeKeyFrames : decodeAll;
  try {
    for await (const _ of decode(packets, { ...decoding, decoder, order, feed })) yield* taken();
    yield* taken();
  } catch (error) {
    throw failure ? unreadable('damaged', { cause: failure }) : error;
  } finally {
    if (decoder.state !== 'closed') decoder.close();
    for (const { frame } of wanted) close(frame);
    packets.demuxer.close();
  }
  if (count.decoded === 0) throw unreadable('damaged');
}

/** Decodes every frame: for key frames farther apart than the wanted frames. */
async function* decodeAll(packets: Packets, { decoder, feed, tell }: Running): AsyncGenerator<void> {
  for (let chunks = await packets.next(PACKETS); chunks; chunks = await packets.next(PACKETS)) {
    for (const chunk of chunks) feed(chunk);
    await untilDecoded(decoder);
    tell();
    yield;
  }
  await decoder.flush();
}

/** Decodes only key frames, seeking from one wanted frame to the next: half an hour costs no more than a minute. */
async function* decodeKeyFrames(
  packets: Packets,
  { decoder, order, feed, survey, distance, tell }: Running,
): AsyncGenerator<void> {
  let last = Number.NEGATIVE_INFINITY;
  for (let at = distance; at < survey.duration + distance; at += distance) {
    packets.demuxer.seek(survey.first + Math.min(at, survey.duration) - 1);
    const key = await nextKeyFrame(packets);
    if (!key || key.timestamp <= last) continue;
    last = key.timestamp;
    feed(key);
    await decoder.flush();
    order.clear();
    tell();
    yield;
  }
}

async function nextKeyFrame(packets: Packets) {
  for (let read = 0; read < PACKETS_TO_KEY_FRAME; read += 1) {
    const chunks = await packets.next(1);
    const key = chunks?.find(({ type }) => type === 'key');
    if (key || !chunks) return key;
  }
  return undefined;
}

interface PresentationOrder {
  /** A packet with this time was given to the decoder. */
  decoding(timestamp: number): void;
  /** The time of the next decoded frame. */
  shown(): number;
  /** The decoder was flushed: no frames are pending. */
  clear(): void;
}

/**
 * Frames are decoded in presentation order, but the decoder labels them with packet times in decoding order, which is wrong
 * for B-frames. The next frame has the earliest pending time.
 */
function createPresentationOrder(): PresentationOrder {
  const waiting: number[] = [];
  let last = 0;
  return {
    decoding(timestamp: number): void {
      const at = waiting.findLastIndex((other) => other <= timestamp);
      waiting.splice(at + 1, 0, timestamp);
    },
    shown(): number {
      // A damaged video may have more frames than packets.
      last = waiting.shift() ?? last;
      return last;
    },
    clear: () => {
      waiting.length = 0;
    },
  };
}

/** The decoder works on a thread of its own. */
async function untilDecoded(decoder: VideoDecoder): Promise<void> {
  while (decoder.state === 'configured' && decoder.decodeQueueSize > 0) {
    // A broken decoder never empties its queue, so poll.
    await sleep(1);
  }
  await new Promise(setImmediate);
}
