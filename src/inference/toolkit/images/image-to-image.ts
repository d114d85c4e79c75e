/** Enhances pictures tile by tile, with any network that enlarges or denoises. */
import { Type } from 'typebox';
import { decoderOf } from '../../models/decoder-settings.ts';
import { versionOf } from '../../models/manifest.ts';
import { fileEntry, type Model } from '../../models/model.ts';
import { inputSize, readSettings } from '../../models/settings.ts';
import { requireClasses } from '../detection/classes.ts';
import { createNormalizer, inputWith, onlyPictureInput, pixels } from './picture-input.ts';
import { resample } from './resample.ts';
import type { RgbImage } from './rgb-image.ts';
import { cutTile, mergePiece, pixelsOfTensor, scaledSpan, spanAt, tileSpans } from './tiles.ts';

export interface PictureMaker {
  /** Linear ratio of the network's output to its input. */
  scale: number;
  /** @param factor linear enlargement, at most `scale`, its default @returns a picture of factor × the size */
  make: (picture: RgbImage, factor?: number) => Promise<RgbImage>;
}

const { layout, dtype, colour, range, mean, std } = pixels;
const tileInput = inputWith({ layout, dtype, colour, range, mean, std });

/**
 * Uses the network in a file of the model. Memory is bounded by the output picture and one row of tiles.
 *
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPictureMaker(model: Model, file: string): PictureMaker {
  const name = onlyPictureInput(model, file);
  const entry = Type.Object({
    inputs: Type.Object({ [name]: tileInput }),
    decoder: decoderOf(['image-to-image']),
  });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [file]: entry }) })).files[file];
  const input = settings?.inputs[name];
  if (!settings || !input) throw new Error(`files.${file} is missing from model.json`);
  requireClasses(model, file, 0);
  const tile = inputSize(model, file, name);
  const { output, scale, overlap, range: shades } = settings.decoder;
  const where = `${versionOf(model.manifest)}: files.${file}`;
  if (overlap * 2 > Math.min(tile.width, tile.height)) {
    throw new Error(`${where}.decoder.overlap must be at most half of the input's width and height`);
  }
  const stated = fileEntry(model, file).outputs[output]?.shape ?? [];
  if (stated[1] !== 3 || stated[2] !== tile.height * scale || stated[3] !== tile.width * scale) {
    const expected = [1, 3, tile.height * scale, tile.width * scale].join(', ');
    throw new Error(`${where}.outputs.${output}.shape must be [${expected}]: the input's, ${scale} times as large`);
  }
  const toTensor = createNormalizer(input);

  const makePiece = async (part: RgbImage, factor: number): Promise<RgbImage> => {
    const outputs = await model.run(file, { [name]: toTensor(part) });
    const piece = pixelsOfTensor(outputs.floats(output), { colour: input.colour, range: shades });
    if (factor === scale) return piece;
    const whole = { x0: 0, y0: 0, x1: piece.width, y1: piece.height };
    return resample(piece, whole, tile.width * factor, tile.height * factor);
  };

  return {
    scale,
    make: async (picture, factor = scale) => {
      const made = blank(picture.width * factor, picture.height * factor);
      const columns = tileSpans(picture.width, tile.width, overlap);
      for (const down of tileSpans(picture.height, tile.height, overlap)) {
        const band = blank(made.width, tile.height * factor);
        for (const across of columns) {
          const part = cutTile(picture, across.start, down.start, tile.width, tile.height);
          mergePiece(band, await makePiece(part, factor), scaledSpan(across, factor), spanAt(0));
        }
        mergePiece(made, band, spanAt(0), scaledSpan(down, factor));
      }
      return made;
    },
  };
}

function blank(width: number, height: number): RgbImage {
  return { width, height, pixels: new Uint8Array(width * height * 3) };
}
