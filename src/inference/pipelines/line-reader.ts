/** Reads one line of print that fills its picture, with a network of any make that `model.json` describes. */
import { Type } from 'typebox';
import { decodeCtc, type SpelledLine, toLogProbabilities } from '../decoding/ctc.ts';
import { padRight } from '../images/fit.ts';
import { resample } from '../images/resample.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { decoderOf } from '../models/decoder-settings.ts';
import { versionOf } from '../models/manifest.ts';
import { fileEntry, type Model } from '../models/model.ts';
import { readSettings } from '../models/settings.ts';
import { createLineReader, type LineRules, readLineRules, scaledWidths, withoutPadding } from '../text-line.ts';
import { requireClasses } from './classes.ts';
import { createNormalizer, inputWith, onlyPictureInput, pixels } from './picture-input.ts';

export interface StraightLineReader {
  /** Shares of the line's box by which the picture reaches beyond it, as in training. */
  margins: Pick<LineRules, 'marginX' | 'marginY'>;
  /** Places are shares of the width of the picture. */
  read: (line: RgbImage) => Promise<SpelledLine>;
}

const FILE = 'text-line';

/**
 * With a decoder `ctc`, a network of any make; without one, a release of `models/text-line`.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createStraightLineReader(model: Model): StraightLineReader {
  const rules = readLineRules(model);
  const { marginX, marginY } = rules;
  const margins = { marginX, marginY };
  if (fileEntry(model, FILE).decoder) return { margins, read: createCtcReader(model, rules) };
  const readBox = createLineReader(model);
  return {
    margins,
    read: (line) =>
      readBox(line, { x0: 0, y0: 0, x1: line.width, y1: line.height }, { ...rules, marginX: 0, marginY: 0 }),
  };
}

/** Scales the line to the height of the input, keeping its proportions, and pads it on the right. */
function createCtcReader(model: Model, rules: LineRules): StraightLineReader['read'] {
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

  return async (line) => {
    const whole = { x0: 0, y0: 0, x1: line.width, y1: line.height };
    const widths = scaledWidths(line, height, rules);
    const scaled = resample(line, whole, widths.width, height);
    const padded = padRight(scaled, widths.paddedWidth, Math.round(input.pad * 255));
    const outputs = await model.run(FILE, { [name]: toTensor(padded) });
    const spelled = decodeCtc(toLogProbabilities(outputs.floats(output), values), settings.labels, blank);
    return withoutPadding(spelled, widths);
  };
}
