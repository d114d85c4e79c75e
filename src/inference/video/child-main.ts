/**
 * Entry point of the process that decodes one video: FFmpeg parses what strangers sent here, and nowhere else. It gets no
 * secrets (its environment is empty), serves nobody but its parent, and ends with the video.
 */
import sharp from 'sharp';
import { ServiceError } from '../../domain/service-error.ts';
import { restrictDecoder } from '../images/decode-image.ts';
import type { DecodeFigures, DecodeLimits, MessageFromDecoder, MessageToDecoder, TakenFrame } from './messages.ts';
import { planesOf } from './planes-of-frame.ts';
import { planesToRgb } from './planes-to-rgb.ts';
import { sharpnessOf } from './sharpness.ts';
import { type FrameCount, type FrameOfVideo, openVideo } from './take-frames.ts';
import { unreadable } from './unreadable.ts';

/** Longest side of the pictures: of 4K nothing is lost. */
const LONGEST_SIDE = 3_840;
const QUALITY = 90;
const MEMORY_CHECK_MS = 50;

const count: FrameCount = { decoded: 0, held: 0, mostHeld: 0 };
let peakResidentBytes = 0;
let goOn = () => {};

// The channel closes when the parent closes it, and when the parent dies in any way.
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group: the parent decides when this process ends.
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

/** What a bitstream makes FFmpeg allocate no header tells beforehand. */
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
  // A parent that is gone has nobody to tell; `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, then);
}
