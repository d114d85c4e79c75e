/** Reads one line of print with a text-line model: an odometer, a VIN, a number plate, a tire's sidewall. */
import { Type } from 'typebox';
import { type Box, clamp, expandBox, type Size } from './decoding/boxes.ts';
import { decodeCtc, type SpelledLine } from './decoding/ctc.ts';
import { PADDING, roundHalfToEven } from './images/fit.ts';
import { resample } from './images/resample.ts';
import type { RgbImage } from './images/rgb-image.ts';
import { type FloatTensor, fileEntry, type Model } from './models/model.ts';
import { readSettings } from './models/settings.ts';
import { greyTensor } from './tensors.ts';

const FILE = 'text-line';
const LINE_HEIGHT = 32;
const MINIMUM_SCALED_WIDTH = 8;

export interface LineRules {
  /** Shares of the box's width and height by which it grows on each side. */
  marginX: number;
  marginY: number;
  /** Bounds of the input's width in pixels, and what it must be a multiple of. */
  minimumWidth: number;
  maximumWidth: number;
  multipleOf: number;
}

const lineRules = Type.Object({
  marginX: Type.Number({ minimum: 0 }),
  marginY: Type.Number({ minimum: 0 }),
  minimumWidth: Type.Integer({ minimum: 1 }),
  maximumWidth: Type.Integer({ minimum: 1 }),
  multipleOf: Type.Integer({ minimum: 1 }),
});

/** The rules that the text-line model was trained with. @throws Error that names the field that `model.json` lacks */
export function readLineRules(model: Model): LineRules {
  return readSettings(model, Type.Object({ rules: lineRules })).rules;
}

/** The line inside `box` (original pixels) → [1, 1, 32, W], grey, 0 to 1, padded on the right. */
export function lineTensor(image: RgbImage, box: Box, rules: LineRules): FloatTensor {
  const grown = expandBox(box, rules.marginX, rules.marginY, image);
  const { width, paddedWidth } = scaledWidths(sizeOf(grown), LINE_HEIGHT, rules);
  return greyTensor(resample(image, grown, width, LINE_HEIGHT), paddedWidth, PADDING);
}

function sizeOf({ x0, y0, x1, y1 }: Box): Size {
  return { width: x1 - x0, height: y1 - y0 };
}

/** The width of a line scaled to the input's height, keeping its proportions, and that of the input: padded on its right. */
export function scaledWidths(
  line: Size,
  inputHeight: number,
  { minimumWidth, maximumWidth, multipleOf }: LineRules,
): { width: number; paddedWidth: number } {
  const proportional = (line.width * inputHeight) / Math.max(1, line.height);
  const width = clamp(roundHalfToEven(proportional), MINIMUM_SCALED_WIDTH, maximumWidth);
  return { width, paddedWidth: Math.max(minimumWidth, Math.ceil(width / multipleOf) * multipleOf) };
}

/** What a padded line spells, with the places as shares of the line without its padding. */
export function withoutPadding(
  line: SpelledLine,
  { width, paddedWidth }: { width: number; paddedWidth: number },
): SpelledLine {
  const place = (share: number) => clamp((share * paddedWidth) / width, 0, 1);
  return {
    ...line,
    characters: line.characters.map((each) => ({ ...each, from: place(each.from), to: place(each.to) })),
  };
}

/** Reads the line inside a box in pixels of the picture. */
export type LineReader = (image: RgbImage, box: Box, rules: LineRules) => Promise<SpelledLine>;

/** @throws Error that says what `model.json` lacks */
export function createLineReader(model: Model): LineReader {
  const { labels = [] } = fileEntry(model, FILE);
  const characters = labels.filter((label) => typeof label === 'string');
  if (characters.length === 0 || characters.length < labels.length) {
    throw new Error(`${model.manifest.model}: files.${FILE}.labels must be the characters of each class`);
  }
  return async (image, box, rules) => {
    const outputs = await model.run(FILE, { images: lineTensor(image, box, rules) });
    const line = decodeCtc(outputs.floats('log_probabilities'), characters, 0);
    const grown = expandBox(box, rules.marginX, rules.marginY, image);
    return withoutPadding(line, scaledWidths(sizeOf(grown), LINE_HEIGHT, rules));
  };
}
