/** A picture → the input of a network, as `model.json` describes it, and the way back from the input's pixels. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { Box, Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { cover, letterbox } from '../images/fit.ts';
import { resample } from '../images/resample.ts';
import { resampleBilinear } from '../images/resample-bilinear.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { shades } from '../models/decoder-settings.ts';
import { versionOf } from '../models/manifest.ts';
import { type FloatTensor, fileEntry, type Model } from '../models/model.ts';
import { inputSize, readSettings } from '../models/settings.ts';

const three = Type.Array(Type.Number(), { minItems: 3, maxItems: 3 });

/** What every input that takes a picture says of its pixels. */
export const pixels = {
  layout: Type.Literal('NCHW'),
  dtype: Type.Enum(['float32', 'float16']),
  colour: Type.Enum(['RGB', 'BGR']),
  /** What black and white become, before `mean` and `std`: [0, 1] or [0, 255], say. */
  range: shades,
  /** By channel, in the order of `colour`, on the scale of `range`: the input is (value − mean) / std. */
  mean: three,
  std: Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 3, maxItems: 3 }),
  /** Grey of what the picture leaves free: 0 black to 1 white, whatever `range`. */
  pad: Type.Number({ minimum: 0, maximum: 1 }),
};

/** An entry of `inputs` in `model.json`, of a shape, with these fields and no other: what is not read is no promise. */
export const inputWith = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({ shape: Type.Unknown(), ...fields }, { additionalProperties: false });

const pictureInput = inputWith({
  ...pixels,
  layout: Type.Enum(['NCHW', 'NHWC']),
  dtype: Type.Enum(['float32', 'float16', 'uint8']),
  resize: Type.Enum(['letterbox', 'stretch', 'cover']),
  /** With `cover`: the share of the scaled picture's tighter side that is seen. 1 when left out. */
  crop: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  /** `triangle`, when left out: every pixel counts, as Pillow scales. `bilinear`: the four nearest alone, as OpenCV does. */
  filter: Type.Optional(Type.Enum(['triangle', 'bilinear'])),
});

/** An input that takes something else: the size of the picture. */
const integerInput = inputWith({ dtype: Type.Literal('int64') });

type Input = Static<typeof pictureInput>;

export interface PreparedPicture {
  /** [1, 3, height, width], or [1, height, width, 3] where the layout is NHWC. */
  tensor: FloatTensor;
  /** From pixels of the input to pixels of the picture; may lie outside of it. */
  toPicture: (point: Point) => Point;
}

export interface PictureInput {
  /** Of the input tensor. */
  name: string;
  size: Size;
  /** @param part of the picture, in its pixels */
  prepare: (picture: RgbImage, part?: Box) => PreparedPicture;
}

/**
 * The one input of a file that takes a picture.
 * @param others inputs of the file that take whole numbers
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPictureInput(model: Model, file: string, others: readonly string[] = []): PictureInput {
  const name = onlyPictureInput(model, file, others);
  for (const other of others) readSettings(model, withInput(file, other, integerInput));
  const settings = readSettings(model, withInput(file, name, pictureInput));
  const input = settings.files[file]?.inputs[name];
  if (!input) throw new Error(`${file} has no input ${name}`);
  const size = inputSize(model, file, name, input.layout);
  requireBytes(model, file, name, input);
  const toTensor = createNormalizer(input);
  const scaleTo = input.filter === 'bilinear' ? resampleBilinear : resample;

  return {
    name,
    size,
    prepare: (picture, part = { x0: 0, y0: 0, x1: picture.width, y1: picture.height }) => {
      if (input.resize === 'stretch') {
        const [scaleX, scaleY] = [(part.x1 - part.x0) / size.width, (part.y1 - part.y0) / size.height];
        return {
          tensor: toTensor(scaleTo(picture, part, size.width, size.height)),
          toPicture: ({ x, y }) => ({ x: x * scaleX + part.x0, y: y * scaleY + part.y0 }),
        };
      }
      if (input.resize === 'cover') {
        const covered = cover(picture, part, size, { share: input.crop ?? 1, scaleTo });
        return {
          tensor: toTensor(covered.image),
          toPicture: ({ x, y }) => ({
            x: (x + covered.offsetX) / covered.scaleX + part.x0,
            y: (y + covered.offsetY) / covered.scaleY + part.y0,
          }),
        };
      }
      const padding = Math.round(input.pad * 255);
      const { image, transform } = letterbox(picture, part, size.width, size.height, padding, scaleTo);
      const { scale, offsetX, offsetY } = transform;
      return {
        tensor: toTensor(image),
        toPicture: ({ x, y }) => ({ x: (x - offsetX) / scale + part.x0, y: (y - offsetY) / scale + part.y0 }),
      };
    },
  };
}

function withInput<Entry extends TSchema>(file: string, name: string, entry: Entry) {
  const inputs = Type.Object({ [name]: entry });
  return Type.Object({ files: Type.Object({ [file]: Type.Object({ inputs }) }) });
}

/** @throws Error where a file takes more or less than one picture */
export function onlyPictureInput(model: Model, file: string, others: readonly string[] = []): string {
  const names = Object.keys(fileEntry(model, file).inputs).filter((name) => !others.includes(name));
  const [name] = names;
  if (name !== undefined && names.length === 1) return name;
  throw new Error(`${versionOf(model.manifest)}: files.${file}.inputs must hold one picture, not ${names.length}`);
}

/** @throws Error where an input of bytes is said to take anything but the levels of pixels */
function requireBytes(model: Model, file: string, name: string, { dtype, range, mean, std }: Input): void {
  const areLevels = String([...range, ...mean, ...std]) === '0,255,0,0,0,1,1,1';
  if (dtype !== 'uint8' || areLevels) return;
  const where = `${versionOf(model.manifest)}: files.${file}.inputs.${name}`;
  throw new Error(`${where}: with the dtype uint8, range must be [0, 255], mean [0, 0, 0] and std [1, 1, 1]`);
}

type Normalization = Pick<Input, 'layout' | 'colour' | 'range' | 'mean' | 'std'>;

/** Pixels → [1, 3, height, width], or [1, height, width, 3] where the layout is NHWC. */
export function createNormalizer({
  layout,
  colour,
  range,
  mean,
  std,
}: Normalization): (image: RgbImage) => FloatTensor {
  const [black = 0, white = 1] = range;
  // Of each channel, what each of the 256 levels becomes.
  const tables = [0, 1, 2].map((channel) =>
    Float32Array.from({ length: 256 }, (_, level) => {
      const value = black + ((white - black) * level) / 255;
      return (value - (mean[channel] ?? 0)) / (std[channel] ?? 1);
    }),
  );
  const sources = colour === 'RGB' ? [0, 1, 2] : [2, 1, 0];
  return ({ width, height, pixels }) => {
    const plane = width * height;
    const data = new Float32Array(3 * plane);
    const [betweenChannels, betweenPixels] = layout === 'NCHW' ? [plane, 1] : [1, 3];
    tables.forEach((table, channel) => {
      let source = sources[channel] ?? 0;
      let target = channel * betweenChannels;
      for (let pixel = 0; pixel < plane; pixel += 1) {
        data[target] = table[pixels[source] as number] as number;
        source += 3;
        target += betweenPixels;
      }
    });
    return { data, shape: layout === 'NCHW' ? [1, 3, height, width] : [1, height, width, 3] };
  };
}
