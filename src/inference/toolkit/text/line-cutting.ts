/** Cuts lines of print to the fixed height that a text-line network reads. */
import { Type } from 'typebox';
import type { Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import { type Box, clamp, expandBox } from '../decoding/boxes.ts';
import type { SpelledLine } from '../decoding/ctc.ts';
import { roundHalfToEven } from '../images/fit.ts';
import { resample } from '../images/resample.ts';
import type { RgbImage } from '../images/rgb-image.ts';

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

/** The rules by which lines were cut in training. @throws Error that names the field missing from `model.json` */
export function readLineRules(model: Model): LineRules {
  return readSettings(model, Type.Object({ rules: lineRules })).rules;
}

export interface LineCut {
  /** The line with its margins, scaled to the input's height with its proportions kept. */
  image: RgbImage;
  /** Width of the input in pixels, at least that of `image`: the network pads on the right. */
  paddedWidth: number;
}

/** @param box of the line, in pixels of the picture */
export function cutLine(picture: RgbImage, box: Box, rules: LineRules, height: number): LineCut {
  const grown = expandBox(box, rules.marginX, rules.marginY, picture);
  const proportional = ((grown.x1 - grown.x0) * height) / Math.max(1, grown.y1 - grown.y0);
  const width = clamp(roundHalfToEven(proportional), MINIMUM_SCALED_WIDTH, rules.maximumWidth);
  const paddedWidth = Math.max(rules.minimumWidth, Math.ceil(width / rules.multipleOf) * rules.multipleOf);
  return { image: resample(picture, grown, width, height), paddedWidth };
}

/** What a padded line spells, with places as shares of the line without its padding. */
export function withoutPadding(line: SpelledLine, { image, paddedWidth }: LineCut): SpelledLine {
  const place = (share: number) => clamp((share * paddedWidth) / image.width, 0, 1);
  return {
    ...line,
    characters: line.characters.map((each) => ({ ...each, from: place(each.from), to: place(each.to) })),
  };
}
