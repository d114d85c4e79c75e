/**
 * Entry point of the process that encodes one film as VP9, without sound. Its environment is empty, it serves only its parent, and it
 * ends with the film. It holds two pictures at a time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { VideoEncoder, VideoFrame } from '@napi-rs/webcodecs';
import sharp from 'sharp';
import { restrictDecoder } from '../../toolkit/images/decode-image.ts';
import type { FilmPlan, MessageFromEncoder, MessageToEncoder } from './messages.ts';
import { rgbToPlanes } from './rgb-to-planes.ts';
import { VP9_LEVEL, writeMp4 } from './write-mp4.ts';

/** Most raw frames that wait for the encoder. */
const MOST_WAITING = 4;

let arrived: (jpeg: Uint8Array) => void = () => {};
let peakResidentBytes = 0;

// The channel closes when the parent closes it or dies.
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group, but the parent decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

restrictDecoder();

process.on('message', (message: MessageToEncoder) => {
  if (message.type === 'picture') arrived(message.jpeg);
  else void encode(message.plan).catch((error: Error) => send({ type: 'failed', message: error.message }));
});

async function encode(plan: FilmPlan): Promise<void> {
  const { width, height, pictures, framesPerSecond, stepFrames, fadeFrames, packet } = plan;
  const frames: { bytes: Uint8Array; isKey: boolean }[] = [];
  const failures: Error[] = [];
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      const isKey = chunk.type === 'key';
      if (isKey) stateColours(bytes);
      frames.push({ bytes, isKey });
    },
    error: (error) => failures.push(error),
  });
  encoder.configure({
    codec: `vp09.00.${VP9_LEVEL}.08`,
    width,
    height,
    framerate: framesPerSecond,
    // Of one quality. With a bit rate, cross-fades grow without a bound.
    bitrateMode: 'quantizer',
    latencyMode: 'quality',
    hardwareAcceleration: 'prefer-software',
  });

  let shown = 0;
  const add = async (planes: Uint8Array) => {
    const timestamp = Math.round((shown * 1_000_000) / framesPerSecond);
    const colorSpace = { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false } as const;
    const frame = new VideoFrame(planes, {
      format: 'I420',
      codedWidth: width,
      codedHeight: height,
      timestamp,
      colorSpace,
    });
    encoder.encode(frame, { keyFrame: shown % framesPerSecond === 0 });
    frame.close();
    shown += 1;
    peakResidentBytes = Math.max(peakResidentBytes, process.memoryUsage.rss());
    while (failures.length === 0 && encoder.encodeQueueSize > MOST_WAITING) await sleep(1);
    for (const failure of failures) throw failure;
  };

  let before: Uint8Array | null = null;
  for (let index = 0; index < pictures; index += 1) {
    const planes = await nextPicture(plan);
    const fading: number = before ? fadeFrames : 0;
    for (let at = 0; before && at < fading; at += 1) await add(mixed(before, planes, (at + 1) / (fading + 1)));
    const until: number = index === pictures - 1 ? stepFrames + fadeFrames : stepFrames;
    for (let at = fading; at < until; at += 1) await add(planes);
    before = planes;
    send({ type: 'working' });
  }
  await encoder.flush();
  encoder.close();
  for (const failure of failures) throw failure;
  if (frames.length !== shown) throw new Error(`the encoder made ${frames.length} packets of ${shown} frames`);
  send({ type: 'film', mp4: writeMp4({ width, height, framesPerSecond, frames, packet }), peakResidentBytes });
}

/** Bytes of a VP9 key frame before its colour space, which is 3 bits; and the number of BT.709. */
const [COLOUR_SPACE_AT, BT_709] = [4, 2];

/**
 * The encoder leaves the colour space of key frames unknown; decoders then guess it by the size of the picture.
 * Source: VP9 Bitstream & Decoding Process Specification 0.7, sections 6.2 and 7.2.
 */
function stateColours(keyFrame: Uint8Array): void {
  keyFrame[COLOUR_SPACE_AT] = ((keyFrame[COLOUR_SPACE_AT] ?? 0) & 0x1f) | (BT_709 << 5);
}

async function nextPicture({ width, height }: FilmPlan): Promise<Uint8Array> {
  const coming = new Promise<Uint8Array>((resolve) => {
    arrived = resolve;
  });
  send({ type: 'wanted' });
  const { data, info } = await sharp(await coming)
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width !== width || info.height !== height || info.channels !== 3)
    throw new Error('a picture has another size');
  return rgbToPlanes(data, width, height);
}

/** @param share of the second, 0 to 1 */
function mixed(first: Uint8Array, second: Uint8Array, share: number): Uint8Array {
  const planes = new Uint8Array(first.length);
  const weight = Math.round(share * 256);
  for (let index = 0; index < planes.length; index += 1) {
    planes[index] = ((first[index] as number) * (256 - weight) + (second[index] as number) * weight + 128) >> 8;
  }
  return planes;
}

function send(message: MessageFromEncoder): void {
  // Without a parent, `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}
