/**
 * Picture → a cut-out of each part, and its position on an exploded view. Segmentation does not determine which part is in
 * front, so larger parts lie further back.
 */

import { type Box, type Size, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { cutOut, type PixelBox, pixelsAround } from '../../inference/toolkit/images/compose.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { fillPart, type OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { requestedDetections } from '../shared/requested-detections.ts';
import type { Parameters } from './request.ts';

/** Additional distance of a part from the centre on the exploded view, as a fraction of its distance in the picture. */
const SPREAD = 0.35;
/** Margin around all parts on the exploded view, in pixels. */
const MARGIN = 20;

interface Piece {
  part: OutlinedPart;
  around: PixelBox;
  cut: { width: number; height: number; pixels: Uint8Array };
  layout: PixelBox;
}

export const pipeline: PipelineDefinition = {
  tasks: ['part-segmentation', VEHICLE_PARTS],
  create: (model) => {
    const read = createPartReader(model);
    return async ({ pictures, parameters }) => {
      const { include_exploded_view: isViewWanted = false, ...requested }: Parameters = parameters;
      const picture = await onlyPicture(pictures);
      const { parts: found, assessment } = await read(picture);
      const { pieces, sheet } = takeApart(found, picture);
      // The exploded view shows every part; the list contains only the requested ones.
      const parts = requestedDetections(
        pieces.map((piece) => ({ ...piece.part, piece })),
        requested,
      ).map(({ piece, part, side }) => toResult(piece, { part, side }, picture));
      const isEmpty = parts.length === 0;
      const image = isViewWanted && !isEmpty ? paintSheet(pieces, sheet) : null;
      return { ...assessment, parts, exploded_view: isEmpty ? null : { ...sheet, image } };
    };
  },
};

function takeApart(parts: readonly OutlinedPart[], picture: RgbImage): { pieces: Piece[]; sheet: Size } {
  const whole = boxAround(
    parts.flatMap(({ box: { x0, y0, x1, y1 } }) => [
      { x: x0, y: y0 },
      { x: x1, y: y1 },
    ]),
  );
  const middle = { x: (whole.x0 + whole.x1) / 2, y: (whole.y0 + whole.y1) / 2 };
  const moved = parts.map((part) => {
    const around = pixelsAround(part.box, picture);
    const left = Math.round(around.left + SPREAD * (around.left + around.width / 2 - middle.x));
    const top = Math.round(around.top + SPREAD * (around.top + around.height / 2 - middle.y));
    return { part, around, cut: cutOut(picture, fillPart(part, picture), around), place: { ...around, left, top } };
  });
  const [left, top] = [
    Math.min(...moved.map(({ place }) => place.left)),
    Math.min(...moved.map(({ place }) => place.top)),
  ];
  const pieces = moved.map(({ place, ...piece }) => ({
    ...piece,
    layout: { ...place, left: place.left - left + MARGIN, top: place.top - top + MARGIN },
  }));
  const sheet = {
    width: Math.max(...pieces.map(({ layout }) => layout.left + layout.width)) + MARGIN,
    height: Math.max(...pieces.map(({ layout }) => layout.top + layout.height)) + MARGIN,
  };
  return { pieces, sheet };
}

function toResult({ part, around, cut, layout }: Piece, named: Pick<OutlinedPart, 'part' | 'side'>, picture: Size) {
  const image: MadePicture = { object: 'made_picture', ...cut, channels: 4, format: 'webp', edits: ['cut_out'] };
  return {
    ...named,
    confidence: part.confidence,
    bbox: toBoundingBox(boxOf(around)),
    is_cut_off: touchesEdge(part.box, picture),
    is_occluded: part.outlines.length > 1 ? true : null,
    cut_out: image,
    layout: { x: layout.left, y: layout.top, width: layout.width, height: layout.height },
  };
}

function boxOf({ left, top, width, height }: PixelBox): Box {
  return { x0: left, y0: top, x1: left + width, y1: top + height };
}

/** Draws every cut-out at its position. Pixels are opaque or absent, so nothing shows through. */
function paintSheet(pieces: readonly Piece[], { width, height }: Size): MadePicture {
  const pixels = new Uint8Array(width * height * 4);
  for (const { cut, layout } of pieces) {
    for (let y = 0; y < cut.height; y += 1) {
      for (let x = 0; x < cut.width; x += 1) {
        const source = (y * cut.width + x) * 4;
        if (cut.pixels[source + 3] === 0) continue;
        const target = ((layout.top + y) * width + layout.left + x) * 4;
        pixels.set(cut.pixels.subarray(source, source + 4), target);
      }
    }
  }
  return { object: 'made_picture', width, height, channels: 4, pixels, format: 'webp', edits: ['cut_out'] };
}
