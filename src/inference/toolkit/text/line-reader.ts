/** Reads a line of print (an odometer, a VIN, a plate, a tire's sidewall) with the file `text-line` of a model. */
import { Type } from 'typebox';
import { decoderOf } from '../../models/decoder-settings.ts';
import { versionOf } from '../../models/manifest.ts';
import { fileEntry, type Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import type { FloatTensor } from '../../models/tensors.ts';
import type { Box } from '../decoding/boxes.ts';
import { decodeCtc, type SpelledLine } from '../decoding/ctc.ts';
import { requireClasses } from '../detection/classes.ts';
import { PADDING, padRight } from '../images/fit.ts';
import { createNormalizer, inputWith, onlyPictureInput, pixels } from '../images/picture-input.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { greyTensor } from '../images/tensors.ts';
import { cutLine, type LineCut, type LineRules, readLineRules, withoutPadding } from './line-cutting.ts';

/**
 * Reads the line inside a box in pixels of the picture. Places of its characters are shares of the width of the box with
 * its margins.
 */
export type LineReader = (picture: RgbImage, box: Box, rules: LineRules) => Promise<SpelledLine>;

/** Reads the one line that fills a picture. */
export interface StraightLineReader {
  /** Shares of a line's own width and height that the picture must show around it, as in training. */
  margins: Pick<LineRules, 'marginX' | 'marginY'>;
  /** Places of the characters are shares of the picture's width. */
  read: (line: RgbImage) => Promise<SpelledLine>;
}

const FILE = 'text-line';
/** Height in pixels of the input of `models/text-line`. */
export const TEXT_LINE_HEIGHT = 32;

/**
 * With a `ctc` decoder in `model.json`, a network of any make; without one, a release of `models/text-line`.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createLineReader(model: Model): LineReader {
  const { height, spell } = fileEntry(model, FILE).decoder ? ctcNetwork(model) : textLineNetwork(model);
  return async (picture, box, rules) => {
    const cut = cutLine(picture, box, rules, height);
    return withoutPadding(await spell(cut), cut);
  };
}

/** @throws as `createLineReader` */
export function createStraightLineReader(model: Model): StraightLineReader {
  const { marginX, marginY, ...rules } = readLineRules(model);
  const read = createLineReader(model);
  return {
    margins: { marginX, marginY },
    read: (line) => read(line, { x0: 0, y0: 0, x1: line.width, y1: line.height }, { ...rules, marginX: 0, marginY: 0 }),
  };
}

interface LineNetwork {
  /** Height of the network's input, in pixels. */
  height: number;
  /** Places are shares of the padded width. */
  spell: (cut: LineCut) => Promise<SpelledLine>;
}

function textLineNetwork(model: Model): LineNetwork {
  const { labels = [] } = fileEntry(model, FILE);
  const characters = labels.filter((label) => typeof label === 'string');
  if (characters.length === 0 || characters.length < labels.length) {
    throw new Error(`${model.manifest.model}: files.${FILE}.labels must be the characters of each class`);
  }
  return {
    height: TEXT_LINE_HEIGHT,
    spell: async (cut) => {
      const outputs = await model.run(FILE, { images: textLineTensor(cut) });
      return decodeCtc(outputs.floats('log_probabilities'), characters, 0);
    },
  };
}

/** A cut line → the input of `models/text-line`: [1, 1, 32, paddedWidth], grey, 0 to 1. */
export function textLineTensor({ image, paddedWidth }: LineCut): FloatTensor {
  return greyTensor(image, paddedWidth, PADDING);
}

function ctcNetwork(model: Model): LineNetwork {
  const name = onlyPictureInput(model, FILE);
  const file = Type.Object({
    inputs: Type.Object({ [name]: inputWith(pixels) }),
    labels: Type.Array(Type.String(), { minItems: 2 }),
    decoder: decoderOf(['ctc']),
  });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [FILE]: file }) })).files[FILE];
  const input = settings.inputs[name];
  if (!input) throw new Error(`${FILE} has no input ${name}`);
  requireClasses(model, FILE, settings.labels.length);
  const { output, values, blank } = settings.decoder;
  const [, , height] = fileEntry(model, FILE).inputs[name]?.shape ?? [];
  if (typeof height !== 'number') {
    const where = `files.${FILE}.inputs.${name}.shape`;
    throw new Error(`${versionOf(model.manifest)}: ${where} must be [N, 3, height, W] with a fixed height`);
  }
  const toTensor = createNormalizer(input);
  return {
    height,
    spell: async ({ image, paddedWidth }) => {
      const padded = padRight(image, paddedWidth, Math.round(input.pad * 255));
      const outputs = await model.run(FILE, { [name]: toTensor(padded) });
      return decodeCtc(outputs.floats(output), settings.labels, blank, values);
    },
  };
}
