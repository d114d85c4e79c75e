/** The parts of a vehicle with their outlines, from a network of any make that finds outlines. */
import type { Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { fillOutline } from '../decoding/mattes.ts';
import { areaOf, boxAround } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import type { Model } from '../models/model.ts';
import { createDetector, DETECTOR_FILE, type Detection, OUTLINE_DECODERS } from './detector.ts';
import { type NamedPart, partLabels, partOfLabel } from './part-labels.ts';

export interface OutlinedPart extends NamedPart, Pick<Detection<string>, 'confidence' | 'box'> {
  /** One, or several where something in front parts it. */
  outlines: Point[][];
  /** Of the outlines, in pixels. */
  area: number;
}

/**
 * @returns finds parts, the largest first. A network of semantic segmentation tells pieces, not things: those of a part
 *   that exists once, or whose side is known, are one part, as certain as its largest piece.
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

/** @param pieces the largest first */
function joined(pieces: readonly OutlinedPart[]): OutlinedPart[] {
  const parts: OutlinedPart[] = [];
  for (const piece of pieces) {
    const place = parts.findIndex(({ part, side }) => side !== null && part === piece.part && side === piece.side);
    const whole = parts[place];
    if (!whole) {
      parts.push(piece);
      continue;
    }
    const outlines = [...whole.outlines, ...piece.outlines];
    parts[place] = { ...whole, outlines, box: boxAround(outlines.flat()), area: whole.area + piece.area };
  }
  return parts;
}

/** The pixels of a part: 255, all others 0. */
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
