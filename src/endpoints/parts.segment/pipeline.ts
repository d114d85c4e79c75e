/**
 * Picture → its parts with outlines. A part in several pieces is occluded by something in front; for a part in one piece the
 * network cannot tell, and `is_occluded` stays null.
 */
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { fillPart, type OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** An 8-bit mask has this many values for parts. */
const MOST_PARTS = 255;

export const pipeline: PipelineDefinition = {
  tasks: ['part-segmentation', VEHICLE_PARTS],
  create: (model) => {
    const read = createPartReader(model);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      const picture = await onlyPicture(pictures);
      const { parts, assessment } = await read(picture);
      const found = parts.slice(0, MOST_PARTS);
      const result: Result = {
        ...assessment,
        parts: found.map((part, index) => toResult(part, index + 1, picture)),
        mask: null,
      };
      const answer = applyParameters(result, requested);
      if (requested.include_mask !== true) return answer;
      // Only listed parts appear on the mask.
      const values = new Set(answer.parts.map(({ mask_value }) => mask_value));
      const listed = found.map((part, index) => ({ part, value: index + 1 })).filter(({ value }) => values.has(value));
      return { ...answer, mask: paintMask(listed, picture) };
    };
  },
};

function toResult(
  { part, side, confidence, box, outlines, area }: OutlinedPart,
  maskValue: number,
  picture: Size,
): Result['parts'][number] {
  return {
    part,
    side,
    confidence,
    bbox: toBoundingBox(box),
    polygons: outlines.map(toPolygon),
    area_fraction: Math.min(1, area / (picture.width * picture.height)),
    is_cut_off: touchesEdge(box, picture),
    is_occluded: outlines.length > 1 ? true : null,
    mask_value: maskValue,
  };
}

/** Draws smaller parts over larger ones. */
function paintMask(parts: readonly { part: OutlinedPart; value: number }[], { width, height }: Size): MadePicture {
  const pixels = new Uint8Array(width * height);
  for (const { part, value } of parts) {
    fillPart(part, { width, height }).forEach((inside, pixel) => {
      if (inside > 0) pixels[pixel] = value;
    });
  }
  return { object: 'made_picture', width, height, channels: 1, pixels, format: 'png', edits: ['matte'] };
}
