/** Pictures → tensors. */

import type { FloatTensor } from '../../models/tensors.ts';
import { lumaOf, type RgbImage } from './rgb-image.ts';

/** Pictures of one size → [N, 3, height, width], RGB, 0 to 1. @throws Error when their sizes differ */
export function rgbTensor(images: readonly RgbImage[]): FloatTensor {
  const { width = 0, height = 0 } = images[0] ?? {};
  const plane = width * height;
  const data = new Float32Array(images.length * 3 * plane);
  images.forEach(({ pixels }, image) => {
    if (pixels.length !== plane * 3) throw new Error('pictures of one tensor must have one size');
    const start = image * 3 * plane;
    for (let index = 0; index < plane; index += 1) {
      data[start + index] = (pixels[index * 3] as number) / 255;
      data[start + plane + index] = (pixels[index * 3 + 1] as number) / 255;
      data[start + 2 * plane + index] = (pixels[index * 3 + 2] as number) / 255;
    }
  });
  return { data, shape: [images.length, 3, height, width] };
}

/**
 * A picture → [1, 1, height, paddedWidth], grey (ITU-R BT.601 luma), 0 to 1, padded on the right with the grey level
 * `padding` (0 to 255).
 */
export function greyTensor({ width, height, pixels }: RgbImage, paddedWidth: number, padding: number): FloatTensor {
  const data = new Float32Array(height * paddedWidth).fill(padding / 255);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const source = (row * width + column) * 3;
      const [red, green, blue] = [pixels[source] as number, pixels[source + 1] as number, pixels[source + 2] as number];
      data[row * paddedWidth + column] = lumaOf(red, green, blue) / 255;
    }
  }
  return { data, shape: [1, 1, height, paddedWidth] };
}

/** Row `index` of an [N, C] tensor. */
export function tensorRow({ data, shape }: FloatTensor, index: number): Float32Array {
  const columns = shape[1] ?? 1;
  return data.subarray(index * columns, (index + 1) * columns);
}
