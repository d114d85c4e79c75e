import type { VideoFrame } from '@napi-rs/webcodecs';
import type { Plane, Planes } from './planes-to-rgb.ts';
import { unreadable } from './unreadable.ts';

const PLANAR = /^I4(20|22|44)A?(?:P(10|12))?$/;

/**
 * Copies the visible part of a decoded frame out of the decoder.
 * @throws ServiceError `input_unreadable` for a pixel format that no camera records, such as planar RGB
 */
export async function planesOf(frame: VideoFrame): Promise<Planes> {
  const { width, height } = frame.visibleRect;
  const { matrix, fullRange } = frame.colorSpace;
  const bytes = new Uint8Array(frame.allocationSize());
  const [first, second, third] = await frame.copyTo(bytes);
  if (!first || !second) throw unreadable('codec');
  const size = { width, height, matrix: matrix ?? null, isFullRange: fullRange === true };

  const planar = PLANAR.exec(frame.format ?? '');
  if (planar && third) {
    const [, chroma, depth] = planar;
    const bits = depth === '10' ? 10 : depth === '12' ? 12 : 8;
    const samples = bits === 8 ? bytes : new Uint16Array(bytes.buffer);
    const plane = ({ offset, stride }: { offset: number; stride: number }): Plane => ({
      samples,
      offset: offset / samples.BYTES_PER_ELEMENT,
      stride: stride / samples.BYTES_PER_ELEMENT,
      step: 1,
    });
    return {
      ...size,
      bits,
      luma: plane(first),
      blue: plane(second),
      red: plane(third),
      across: chroma === '44' ? 1 : 2,
      down: chroma === '20' ? 2 : 1,
    };
  }
  if (frame.format === 'NV12' || frame.format === 'NV21') {
    const even = { samples: bytes, offset: second.offset, stride: second.stride, step: 2 };
    const odd = { ...even, offset: even.offset + 1 };
    const [blue, red] = frame.format === 'NV12' ? [even, odd] : [odd, even];
    const luma = { samples: bytes, offset: first.offset, stride: first.stride, step: 1 };
    return { ...size, bits: 8, luma, blue, red, across: 2, down: 2 };
  }
  throw unreadable('codec');
}
