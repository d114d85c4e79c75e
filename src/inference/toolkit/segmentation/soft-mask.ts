/** How sure a network is, pixel by pixel, that it sees a vehicle: what its outlines no longer say. */
import { Type } from 'typebox';
import { decoderOf } from '../../models/decoder-settings.ts';
import type { Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import { labelsOf } from '../detection/classes.ts';
import { OUTLINE_DECODERS } from '../detection/detector.ts';
import { createPictureInput } from '../images/picture-input.ts';
import type { RgbImage } from '../images/rgb-image.ts';

/** The probability, 0 to 1, that a place of the picture (in its pixels) belongs to a vehicle. */
export type SoftMask = (x: number, y: number) => number;

/**
 * @param file of outlines
 * @returns null for a decoder that says no probability of each pixel
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createSoftMasker(model: Model, file: string): ((picture: RgbImage) => Promise<SoftMask>) | null {
  const label = Type.Unsafe<string | null>({});
  const entry = Type.Object({ labels: labelsOf(label), decoder: decoderOf(OUTLINE_DECODERS) });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [file]: entry }) })).files[file];
  if (settings?.decoder.name !== 'semantic-segmentation') return null;
  const { labels, decoder } = settings;
  const input = createPictureInput(model, file);
  return async (picture) => {
    const { size, tensor, toPicture } = input.prepare(picture);
    const { data, shape } = (await model.run(file, { [input.name]: tensor })).floats(decoder.output);
    const [height = 0, width = 0] = shape.slice(2);
    const logits = logitsOf(data, width * height, labels);
    const [start, end] = [toPicture({ x: 0, y: 0 }), toPicture({ x: size.width, y: size.height })];
    return (x, y) => {
      const column = ((x - start.x) / (end.x - start.x)) * width - 0.5;
      const row = ((y - start.y) / (end.y - start.y)) * height - 0.5;
      return 1 / (1 + Math.exp(-interpolate(logits, { width, height }, column, row)));
    };
  };
}

/** The logit of all wanted classes against all others, for each cell. */
function logitsOf(data: ArrayLike<number>, cells: number, labels: readonly (string | null)[]): Float32Array {
  return Float32Array.from({ length: cells }, (_, cell) => {
    const sums = [0, 0];
    const greatest = labels.reduce(
      (most, _label, index) => Math.max(most, data[index * cells + cell] as number),
      -Infinity,
    );
    labels.forEach((label, index) => {
      const side = label === null ? 0 : 1;
      sums[side] = (sums[side] as number) + Math.exp((data[index * cells + cell] as number) - greatest);
    });
    return Math.log((sums[1] as number) + Number.EPSILON) - Math.log((sums[0] as number) + Number.EPSILON);
  });
}

/** Bilinear between the centres of cells, held at the edges. */
function interpolate(
  values: ArrayLike<number>,
  { width, height }: { width: number; height: number },
  column: number,
  row: number,
): number {
  const x = Math.min(Math.max(column, 0), width - 1);
  const y = Math.min(Math.max(row, 0), height - 1);
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, bottom] = [Math.min(left + 1, width - 1), Math.min(top + 1, height - 1)];
  const at = (across: number, down: number) => values[down * width + across] as number;
  const upper = at(left, top) + (at(right, top) - at(left, top)) * (x - left);
  const lower = at(left, bottom) + (at(right, bottom) - at(left, bottom)) * (x - left);
  return upper + (lower - upper) * (y - top);
}
