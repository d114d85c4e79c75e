/** Small videos, encoded for a test by the library that also decodes them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type EncodedVideoChunk, Mp4Muxer, VideoEncoder, VideoFrame, WebMMuxer } from '@napi-rs/webcodecs';

export type Rgb = readonly [red: number, green: number, blue: number];

export interface VideoOptions {
  codec?: string;
  container?: 'mp4' | 'webm';
  width?: number;
  height?: number;
  framesPerSecond?: number;
  /** Frames from one key frame to the next; by default the first frame is the only key frame. */
  keyFrameEvery?: number;
  /** The colour of each frame. */
  frames: readonly Rgb[];
  /** The colour of the upper left quarter, if it differs. */
  corner?: Rgb;
  /** Allows packets in another order than frames. */
  latencyMode?: 'quality' | 'realtime';
  /** Puts the index of an MP4 before its frames. */
  fastStart?: boolean;
}

export async function makeVideo(path: string, options: VideoOptions): Promise<void> {
  const { codec = 'avc1.42001E', container = 'mp4', width = 128, height = 96, framesPerSecond = 10 } = options;
  const { frames, keyFrameEvery = frames.length, corner, latencyMode = 'quality' } = options;
  const muxer = container === 'mp4' ? new Mp4Muxer({ fastStart: options.fastStart ?? false }) : new WebMMuxer();
  const failures: Error[] = [];
  let description: Uint8Array | undefined;
  const chunks: EncodedVideoChunk[] = [];
  const encoder = new VideoEncoder({
    output: (chunk, metadata) => {
      description ??= metadata?.decoderConfig?.description;
      chunks.push(chunk);
    },
    error: (error) => failures.push(error),
  });
  encoder.configure({ codec, width, height, framerate: framesPerSecond, bitrate: 400_000, latencyMode });
  for (const [index, colour] of frames.entries()) {
    const timestamp = Math.round((index * 1_000_000) / framesPerSecond);
    const duration = Math.round(1_000_000 / framesPerSecond);
    const data = paint(width, height, colour, corner ?? colour);
    const frame = new VideoFrame(data, { format: 'RGBA', codedWidth: width, codedHeight: height, timestamp, duration });
    encoder.encode(frame, { keyFrame: index % keyFrameEvery === 0 });
    frame.close();
    // Otherwise thousands of frames wait in memory.
    if (index % 100 === 99) while (encoder.encodeQueueSize > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await encoder.flush();
  encoder.close();
  muxer.addVideoTrack({ codec, width, height, framerate: framesPerSecond, ...(description && { description }) });
  for (const chunk of chunks) muxer.addVideoChunk(chunk);
  for (const failure of failures) throw failure;
  writeFileSync(path, muxer.finalize());
  muxer.close();
}

function paint(width: number, height: number, colour: Rgb, corner: Rgb): Uint8Array {
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      pixels.set([...(x < width / 2 && y < height / 2 ? corner : colour), 255], (y * width + x) * 4);
    }
  }
  return pixels;
}

/** Sets the clockwise rotation in the header of an MP4, in degrees, as phones do. */
export function withRotation(video: Buffer, degrees: 90 | 180 | 270): Buffer {
  const turned = Buffer.from(video);
  const header = turned.indexOf('tkhd') + 4;
  const at = header + (turned[header] === 1 ? 52 : 40);
  const [cos, sin] = { 90: [0, 1], 180: [-1, 0], 270: [0, -1] }[degrees] as [number, number];
  for (const [index, value] of [cos, sin, 0, -sin, cos].entries()) turned.writeInt32BE(value * 65_536, at + index * 4);
  return turned;
}

/** Processes that decode videos for this one. */
export function decoders(): number[] {
  return childrenOf('video/child-main');
}

/** Processes that encode films for this one. */
export function encoders(): number[] {
  return childrenOf('encoding/child-main');
}

function childrenOf(main: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(main);
      } catch {
        return false;
      }
    });
}
