/**
 * Entry point of the process that decodes one video: FFmpeg parses untrusted files here and nowhere else. Its environment is
 * empty, it serves only its parent, and it ends with the video.
 */
import sharp from 'sharp';
import { ServiceError } from '../../platform/service-error.ts';
import { restrictDecoder } from '../toolkit/images/decode-image.ts';
import type { DecodeFigures, DecodeLimits, MessageFromDecoder, MessageToDecoder, TakenFrame } from './messages.ts';
import { planesOf } from './planes-of-frame.ts';
import { planesToRgb } from './planes-to-rgb.ts';
import { sharpnessOf } from './sharpness.ts';
import { type FrameCount, type FrameOfVideo, openVideo } from './take-frames.ts';
import { unreadable } from './unreadable.ts';

/** Longest side of the frames, in pixels: 4K stays complete. */
const LONGEST_SIDE = 3_840;
const QUALITY = 90;
const MEMORY_CHECK_MS = 50;

const count: FrameCount = { decoded: 0, held: 0, mostHeld: 0 };
let peakResidentBytes = 0;
let goOn = () => {};

// The channel closes when the parent closes it or dies.
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group, but the parent decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

restrictDecoder();

process.on('message', (message: MessageToDecoder) => {
  if (message.type === 'next') goOn();
  else void decode(message.path, message.limits);
});

async function decode(path: string, limits: DecodeLimits): Promise<void> {
  const watch = watchMemory(limits.residentBytes);
  try {
    const { facts, rotation, frames } = await openVideo(path, limits, { count, tell: () => send({ type: 'working' }) });
    send({ type: 'facts', facts });
    for await (const taken of frames) {
      const frame = await toPicture(taken, rotation);
      const wanted = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      send({ type: 'frame', frame });
      await wanted;
    }
    send({ type: 'end', figures: figures() });
  } catch (error) {
    fail(error as Error);
  } finally {
    clearInterval(watch);
  }
}

async function toPicture({ frame, timeOffsetMs }: FrameOfVideo, rotation: number): Promise<TakenFrame> {
  const planes = await planesOf(frame);
  const { pixels, width, height } = planesToRgb(planes);
  const { data, info } = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .rotate(rotation)
    .resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
  return { timeOffsetMs, width: info.width, height: info.height, sharpness: sharpnessOf(planes), jpeg: data };
}

/** No header states beforehand how much memory FFmpeg will allocate for a bitstream. */
function watchMemory(limitBytes: number): NodeJS.Timeout {
  const check = () => {
    const { rss } = process.memoryUsage();
    peakResidentBytes = Math.max(peakResidentBytes, rss);
    if (rss <= limitBytes) return;
    fail(unreadable('too costly'), () => process.exit(1));
  };
  check();
  return setInterval(check, MEMORY_CHECK_MS);
}

function figures(): DecodeFigures {
  return { decodedFrames: count.decoded, mostFramesHeld: count.mostHeld, peakResidentBytes };
}

function fail(error: Error, then?: () => void): void {
  const code = error instanceof ServiceError ? error.code : null;
  send({ type: 'failed', code, message: error.message }, then);
}

function send(message: MessageFromDecoder, then?: () => void): void {
  // Without a parent, `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, then);
}
