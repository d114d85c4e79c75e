/** A picture → the network input that `model.json` describes, with the mapping back to pixels of the picture. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { shades } from '../../models/decoder-settings.ts';
import { versionOf } from '../../models/manifest.ts';
import { fileEntry, type Model } from '../../models/model.ts';
import { inputSize, readSettings } from '../../models/settings.ts';
import type { FloatTensor } from '../../models/tensors.ts';
import type { Box, Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { cover, fitInto } from './fit.ts';
import { resample } from './resample.ts';
import { resampleBilinear } from './resample-bilinear.ts';
import type { RgbImage } from './rgb-image.ts';
import { takeFloats } from './spare-floats.ts';

const three = Type.Array(Type.Number(), { minItems: 3, maxItems: 3 });

/** Fields of every input that takes a picture. */
export const pixels = {
  layout: Type.Literal('NCHW'),
  dtype: Type.Enum(['float32', 'float16']),
  colour: Type.Enum(['RGB', 'BGR']),
  /** Values of black and white before `mean` and `std`, such as [0, 1] or [0, 255]. */
  range: shades,
  /** By channel, in the order of `colour`, on the scale of `range`: the input is (value − mean) / std. */
  mean: three,
  std: Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 3, maxItems: 3 }),
  /** Grey level of the padding: 0 (black) to 1 (white), independent of `range`. */
  pad: Type.Number({ minimum: 0, maximum: 1 }),
};

/** An entry of `inputs` in `model.json` with exactly these fields and a shape. */
export const inputWith = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({ shape: Type.Unknown(), ...fields }, { additionalProperties: false });

const side = Type.Integer({ minimum: 1 });
const sides = Type.Object({ shortest: side, longest: side, multipleOf: side }, { additionalProperties: false });
type Sides = Static<typeof sides>;

const pictureInput = inputWith({
  ...pixels,
  layout: Type.Enum(['NCHW', 'NHWC']),
  dtype: Type.Enum(['float32', 'float16', 'uint8']),
  resize: Type.Enum(['letterbox', 'stretch', 'cover', 'fit']),
  /** With `cover`: visible share of the scaled picture's shorter side. Default 1. */
  crop: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  /** With `fit`: bounds of the scaled picture's sides in pixels, `longest` before `shortest`, and what they are padded to. */
  sides: Type.Optional(sides),
  /** `triangle` (default): antialiased, as in Pillow. `bilinear`: the four nearest pixels only, as in OpenCV. */
  filter: Type.Optional(Type.Enum(['triangle', 'bilinear'])),
});

/** An integer input, such as the size of the picture. */
const integerInput = inputWith({ dtype: Type.Literal('int64') });

type Input = Static<typeof pictureInput>;

export interface PreparedPicture {
  /** Of the input, in pixels. */
  size: Size;
  /** [1, 3, height, width], or [1, height, width, 3] for the layout NHWC. */
  tensor: FloatTensor;
  /** Maps pixels of the input to pixels of the picture; the point may lie outside the picture. */
  toPicture: (point: Point) => Point;
}

export interface PictureInput {
  /** Name of the input tensor. */
  name: string;
  /** @param part of the picture to use, in its pixels; the whole picture by default */
  prepare: (picture: RgbImage, part?: Box) => PreparedPicture;
}

/**
 * The only picture input of a file.
 * @param others names of the file's integer inputs
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPictureInput(model: Model, file: string, others: readonly string[] = []): PictureInput {
  const name = onlyPictureInput(model, file, others);
  for (const other of others) readSettings(model, withInput(file, other, integerInput));
  const settings = readSettings(model, withInput(file, name, pictureInput));
  const input = settings.files[file]?.inputs[name];
  if (!input) throw new Error(`${file} has no input ${name}`);
  const sizeFor = sizeOfInput(model, file, name, input);
  requireBytes(model, file, name, input);
  const toTensor = createNormalizer(input);
  const scaleTo = input.filter === 'bilinear' ? resampleBilinear : resample;

  return {
    name,
    prepare: (picture, part = { x0: 0, y0: 0, x1: picture.width, y1: picture.height }) => {
      const size = sizeFor({ width: part.x1 - part.x0, height: part.y1 - part.y0 });
      if (input.resize === 'stretch') {
        const [scaleX, scaleY] = [(part.x1 - part.x0) / size.width, (part.y1 - part.y0) / size.height];
        return {
          size,
          tensor: toTensor(scaleTo(picture, part, size.width, size.height)),
          toPicture: ({ x, y }) => ({ x: x * scaleX + part.x0, y: y * scaleY + part.y0 }),
        };
      }
      if (input.resize === 'cover') {
        const covered = cover(picture, part, size, { share: input.crop ?? 1, scaleTo });
        return {
          size,
          tensor: toTensor(covered.image),
          toPicture: ({ x, y }) => ({
            x: (x + covered.offsetX) / covered.scaleX + part.x0,
            y: (y + covered.offsetY) / covered.scaleY + part.y0,
          }),
        };
      }
      const { scaled, transform } = fitInto(picture, part, size.width, size.height, scaleTo);
      const { scale, offsetX, offsetY } = transform;
      const place = { ...size, left: offsetX, top: offsetY, level: Math.round(input.pad * 255) };
      return {
        size,
        tensor: toTensor(scaled, place, takeFloats),
        toPicture: ({ x, y }) => ({ x: (x - offsetX) / scale + part.x0, y: (y - offsetY) / scale + part.y0 }),
      };
    },
  };
}

/** The size of the input for a picture: fixed, or with `fit` that of the picture within bounds. */
function sizeOfInput(model: Model, file: string, name: string, input: Input): (picture: Size) => Size {
  const { resize, sides: bounds } = input;
  if ((resize === 'fit') !== (bounds !== undefined)) {
    const where = `${versionOf(model.manifest)}: files.${file}.inputs.${name}`;
    throw new Error(`${where}: sides are the bounds of resize "fit", and belong to no other`);
  }
  if (bounds) return (picture) => fittingSize(picture, bounds);
  const size = inputSize(model, file, name, input.layout);
  return () => size;
}

/** Source: `DetResizeForTest` of PaddleOCR, but with padding up to the multiple in place of a distortion. */
function fittingSize({ width, height }: Size, { shortest, longest, multipleOf }: Sides): Size {
  const grown = Math.max(1, shortest / Math.min(width, height));
  const scale = Math.min(grown, longest / Math.max(width, height));
  const padded = (length: number) => Math.max(1, Math.ceil(Math.round(length * scale) / multipleOf)) * multipleOf;
  return { width: padded(width), height: padded(height) };
}

function withInput<Entry extends TSchema>(file: string, name: string, entry: Entry) {
  const inputs = Type.Object({ [name]: entry });
  return Type.Object({ files: Type.Object({ [file]: Type.Object({ inputs }) }) });
}

/** Name of the only picture input. @throws Error when a file does not take exactly one picture */
export function onlyPictureInput(model: Model, file: string, others: readonly string[] = []): string {
  const names = Object.keys(fileEntry(model, file).inputs).filter((name) => !others.includes(name));
  const [name] = names;
  if (name !== undefined && names.length === 1) return name;
  throw new Error(`${versionOf(model.manifest)}: files.${file}.inputs must hold one picture, not ${names.length}`);
}

/** @throws Error when a uint8 input has a normalization other than raw pixel values */
function requireBytes(model: Model, file: string, name: string, { dtype, range, mean, std }: Input): void {
  const areLevels = String([...range, ...mean, ...std]) === '0,255,0,0,0,1,1,1';
  if (dtype !== 'uint8' || areLevels) return;
  const where = `${versionOf(model.manifest)}: files.${file}.inputs.${name}`;
  throw new Error(`${where}: with the dtype uint8, range must be [0, 255], mean [0, 0, 0] and std [1, 1, 1]`);
}

type Normalization = Pick<Input, 'layout' | 'colour' | 'range' | 'mean' | 'std'>;

/** Where a picture stands in a larger one of a single grey level, 0 to 255. */
interface Place extends Size {
  left: number;
  top: number;
  level: number;
}

/**
 * Pixels → [1, 3, height, width], or [1, height, width, 3] for the layout NHWC, normalised per channel.
 * @param floats memory for the tensor
 */
export function createNormalizer({
  layout,
  colour,
  range,
  mean,
  std,
}: Normalization): (image: RgbImage, place?: Place, floats?: (length: number) => Float32Array) => FloatTensor {
  const [black = 0, white = 1] = range;
  const channels = [0, 1, 2].map((channel) => ({
    /** Of the channel in a pixel. */
    from: colour === 'RGB' ? channel : 2 - channel,
    /** The normalised value of each of the 256 levels. */
    values: Float32Array.from({ length: 256 }, (_, level) => {
      const value = black + ((white - black) * level) / 255;
      return (value - (mean[channel] ?? 0)) / (std[channel] ?? 1);
    }),
  }));
  const write = (data: Float32Array, image: RgbImage, { width, height, left, top, level }: Place): void => {
    const plane = width * height;
    const [betweenChannels, betweenPixels] = layout === 'NCHW' ? [plane, 1] : [1, 3];
    for (const [channel, { from, values }] of channels.entries()) {
      const first = channel * betweenChannels;
      if (image.width < width || image.height < height) {
        for (let row = 0; row < height; row += 1) {
          fill(data, first + row * width * betweenPixels, betweenPixels, width, values[level] as number);
        }
      }
      const to = first + (top * width + left) * betweenPixels;
      for (let row = 0; row < image.height; row += 1) {
        lookUp(data, to + row * width * betweenPixels, betweenPixels, image, row, from, values);
      }
    }
  };
  return (image, place = { ...image, left: 0, top: 0, level: 0 }, floats = (length) => new Float32Array(length)) => {
    const { width, height } = place;
    const data = floats(3 * width * height);
    write(data, image, place);
    return { data, shape: layout === 'NCHW' ? [1, 3, height, width] : [1, height, width, 3] };
  };
}

function fill(data: Float32Array, to: number, step: number, count: number, value: number): void {
  if (step === 1) data.fill(value, to, to + count);
  else for (let index = 0; index < count; index += 1) data[to + index * step] = value;
}

/** One channel of a row. A function of its own, which V8 compiles once for all pictures, as it does not loops within loops. */
function lookUp(
  data: Float32Array,
  to: number,
  step: number,
  { width, pixels }: RgbImage,
  row: number,
  channel: number,
  values: Float32Array,
): void {
  const end = (row + 1) * width * 3;
  for (let source = row * width * 3 + channel, target = to; source < end; source += 3, target += step) {
    data[target] = values[pixels[source] as number] as number;
  }
}
