/** Outlines a vehicle's parts with any network that finds outlines. */

import type { Model } from '../../models/model.ts';
import type { Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { areaOf, boxAround } from '../decoding/rotated-boxes.ts';
import { createDetector, DETECTOR_FILE, type Detection, OUTLINE_DECODERS } from '../detection/detector.ts';
import { type NamedPart, partLabels, partOfLabel } from '../detection/part-labels.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { fillOutline } from './outline-mattes.ts';

export interface OutlinedPart extends NamedPart, Pick<Detection<string>, 'confidence' | 'box'> {
  /** Several if something in front divides the part. In pixels of the picture. */
  outlines: Point[][];
  /** Total area of the outlines, in square pixels. */
  area: number;
}

/**
 * @returns a function that returns parts, largest first. Semantic segmentation finds pieces: those of a part that exists
 *   once, or whose side is known, are joined into one part with the confidence of its largest piece. Crumbs are left out.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPartOutliner(model: Model): (picture: RgbImage) => Promise<OutlinedPart[]> {
  const detect = createDetector(model, partLabels, OUTLINE_DECODERS);
  const tellsPieces = model.manifest.files[DETECTOR_FILE]?.decoder?.name === 'semantic-segmentation';
  return async (picture) => {
    const pieces = (await detect(picture)).map(toPart).toSorted((a, b) => b.area - a.area);
    return (tellsPieces ? joined(pieces) : pieces).toSorted((a, b) => b.area - a.area);
  };
}

function toPart({ label, confidence, box, outline }: Detection<string>): OutlinedPart {
  if (!outline) throw new Error('a detection has no outline');
  return { ...partOfLabel(label), confidence, box, outlines: [outline], area: areaOf(outline) };
}

/** Below this share of a part's largest piece, another one is an error of the network rather than the part behind something. */
const CRUMB_SHARE = 0.1;

/** @param pieces largest first */
function joined(pieces: readonly OutlinedPart[]): OutlinedPart[] {
  const parts: OutlinedPart[] = [];
  for (const piece of pieces) {
    const place = parts.findIndex(({ part, side }) => side !== null && part === piece.part && side === piece.side);
    const whole = parts[place];
    if (!whole) {
      parts.push(piece);
      continue;
    }
    if (piece.area < CRUMB_SHARE * areaOf(whole.outlines[0] ?? [])) continue;
    const outlines = [...whole.outlines, ...piece.outlines];
    parts[place] = { ...whole, outlines, box: boxAround(outlines.flat()), area: whole.area + piece.area };
  }
  return parts;
}

/** [height, width] of the picture: 255 for the part's pixels, else 0. */
export function fillPart({ outlines }: Pick<OutlinedPart, 'outlines'>, picture: Size): Uint8Array {
  const [first = [], ...others] = outlines;
  const matte = fillOutline(first, picture);
  for (const outline of others) {
    fillOutline(outline, picture).forEach((value, pixel) => {
      if (value > 0) matte[pixel] = value;
    });
  }
  return matte;
}
