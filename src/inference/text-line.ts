/** Reads one line of print with a text-line model: an odometer, a VIN, a number plate, a tire's sidewall. */
import { Type } from 'typebox';
import { type Box, clamp, expandBox } from './decoding/boxes.ts';
import { decodeCtc, type TextLine } from './decoding/ctc.ts';
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
  const proportional = ((grown.x1 - grown.x0) * LINE_HEIGHT) / Math.max(1, grown.y1 - grown.y0);
  const width = clamp(roundHalfToEven(proportional), MINIMUM_SCALED_WIDTH, rules.maximumWidth);
  const paddedWidth = Math.max(rules.minimumWidth, Math.ceil(width / rules.multipleOf) * rules.multipleOf);
  return greyTensor(resample(image, grown, width, LINE_HEIGHT), paddedWidth, PADDING);
}

/** Reads the line inside a box in pixels of the picture. */
export type LineReader = (image: RgbImage, box: Box, rules: LineRules) => Promise<TextLine>;

/** @throws Error that says what `model.json` lacks */
export function createLineReader(model: Model): LineReader {
  const { labels = [] } = fileEntry(model, FILE);
  const characters = labels.filter((label) => typeof label === 'string');
  if (characters.length === 0 || characters.length < labels.length) {
    throw new Error(`${model.manifest.model}: files.${FILE}.labels must be the characters of each class`);
  }
  return async (image, box, rules) => {
    const outputs = await model.run(FILE, { images: lineTensor(image, box, rules) });
    return decodeCtc(outputs.floats('log_probabilities'), characters, 0);
  };
}
