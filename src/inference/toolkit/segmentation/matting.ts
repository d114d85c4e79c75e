/** Mattes for cutting out one vehicle. */
import { Type } from 'typebox';
import { decoderOf } from '../../models/decoder-settings.ts';
import type { Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import { alphaOfLogits, decodeAlpha, spreadAlpha } from '../decoding/alpha-matte.ts';
import { type Box, expandBox, type Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { areaOf } from '../decoding/rotated-boxes.ts';
import { requireClasses } from '../detection/classes.ts';
import type { Detection } from '../detection/detector.ts';
import { createPictureInput } from '../images/picture-input.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { fillOutline, holdToOutline } from './outline-mattes.ts';
import type { RefinedMask } from './refined-mask.ts';

/** Returns the opacity of each pixel of the picture, [height, width], 0 to 255. */
export type MakeMatte = (
  picture: RgbImage,
  thing: { box: Box; outline: Point[] | null; refined?: RefinedMask | null },
) => Promise<Uint8Array>;

export const MATTING_FILE = 'matting';
/** Share of its size by which a box grows for the matting network, and by which the detector's outline may be wrong. */
const MATTING_MARGIN = 0.05;
/** Distance at which a box touches the picture's edge, in pixels. */
const EDGE_PIXELS = 1;

/**
 * With the file `matting`, whose network sees only the object's box, the matte has soft edges along the outline. Without it, the
 * matte follows the edges of the picture, or fills the outline where they were not looked for.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createMatteMaker(model: Model): MakeMatte {
  if (!model.manifest.files[MATTING_FILE]) {
    return async (picture, { outline, refined }) => refined?.makeMatte() ?? fillOutline(outline ?? [], picture);
  }
  const file = Type.Object({ decoder: decoderOf(['alpha-matte']) });
  const { decoder } = readSettings(model, Type.Object({ files: Type.Object({ [MATTING_FILE]: file }) })).files.matting;
  requireClasses(model, MATTING_FILE, 0);
  const input = createPictureInput(model, MATTING_FILE);
  return async (picture, { box, outline }) => {
    const { size, tensor, toPicture } = input.prepare(picture, expandBox(box, MATTING_MARGIN, MATTING_MARGIN, picture));
    const outputs = await model.run(MATTING_FILE, { [input.name]: tensor });
    const said = outputs.floats(decoder.output);
    const alpha = decoder.values === 'logits' ? alphaOfLogits(said) : said;
    const matte = decodeAlpha(decoder.spread ? spreadAlpha(alpha) : alpha, { size, toPicture }, picture);
    const side = Math.min(box.x1 - box.x0, box.y1 - box.y0);
    if (outline) holdToOutline(matte, outline, picture, Math.max(1, Math.round(side * MATTING_MARGIN)));
    return matte;
  };
}

/** Sorts by the outline's area, largest first: the first is the picture's subject. */
export function largestFirst<Found extends Detection<string>>(found: readonly Found[]): Found[] {
  return found.toSorted((a, b) => areaOf(b.outline ?? []) - areaOf(a.outline ?? []));
}

export function touchesEdge({ x0, y0, x1, y1 }: Box, { width, height }: Size): boolean {
  return x0 < EDGE_PIXELS || y0 < EDGE_PIXELS || x1 > width - EDGE_PIXELS || y1 > height - EDGE_PIXELS;
}
