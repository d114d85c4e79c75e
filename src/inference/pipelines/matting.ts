/** How much of each pixel belongs to one vehicle, for cutting it out. */
import { Type } from 'typebox';
import { type Box, expandBox, type Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { alphaOfLogits, decodeAlpha, fillOutline, holdToOutline, spreadAlpha } from '../decoding/mattes.ts';
import { areaOf } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { decoderOf } from '../models/decoder-settings.ts';
import type { Model } from '../models/model.ts';
import { readSettings } from '../models/settings.ts';
import { requireClasses } from './classes.ts';
import type { Detection } from './detector.ts';
import { createPictureInput } from './picture-input.ts';

/** One value a pixel of the picture, 0 to 255. */
export type MakeMatte = (picture: RgbImage, thing: { box: Box; outline: Point[] | null }) => Promise<Uint8Array>;

const MATTING_FILE = 'matting';
/** Share of its size by which a thing's box grows before the matting network sees it, and by which its outline may err. */
const MATTING_MARGIN = 0.05;
/** How near to an edge of the picture a box touches it, in pixels. */
const EDGE_PIXELS = 1;

/**
 * With the file `matting`, of which the network sees the thing alone, soft edges along the outline; without it, the outline
 * filled.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createMatteMaker(model: Model): MakeMatte {
  if (!model.manifest.files[MATTING_FILE]) {
    return async (picture, { outline }) => fillOutline(outline ?? [], picture);
  }
  const file = Type.Object({ decoder: decoderOf(['alpha-matte']) });
  const { decoder } = readSettings(model, Type.Object({ files: Type.Object({ [MATTING_FILE]: file }) })).files.matting;
  requireClasses(model, MATTING_FILE, 0);
  const input = createPictureInput(model, MATTING_FILE);
  return async (picture, { box, outline }) => {
    const { tensor, toPicture } = input.prepare(picture, expandBox(box, MATTING_MARGIN, MATTING_MARGIN, picture));
    const outputs = await model.run(MATTING_FILE, { [input.name]: tensor });
    const said = outputs.floats(decoder.output);
    const alpha = decoder.values === 'logits' ? alphaOfLogits(said) : said;
    const matte = decodeAlpha(decoder.spread ? spreadAlpha(alpha) : alpha, { size: input.size, toPicture }, picture);
    const side = Math.min(box.x1 - box.x0, box.y1 - box.y0);
    if (outline) holdToOutline(matte, outline, picture, Math.max(1, Math.round(side * MATTING_MARGIN)));
    return matte;
  };
}

/** The largest outlines first: the first is what the picture is of. */
export function largestFirst<Label extends string>(found: readonly Detection<Label>[]): Detection<Label>[] {
  return found.toSorted((a, b) => areaOf(b.outline ?? []) - areaOf(a.outline ?? []));
}

export function touchesEdge({ x0, y0, x1, y1 }: Box, { width, height }: Size): boolean {
  return x0 < EDGE_PIXELS || y0 < EDGE_PIXELS || x1 > width - EDGE_PIXELS || y1 > height - EDGE_PIXELS;
}
