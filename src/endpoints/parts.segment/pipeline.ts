/**
 * Picture → its parts with their outlines. Whether something in front hides a piece of a part follows from a part in
 * several pieces; of one in a single piece the network does not tell, and it stays null.
 */
import type { Size } from '../../inference/decoding/boxes.ts';
import { toBoundingBox } from '../../inference/decoding/boxes.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { touchesEdge } from '../../inference/pipelines/matting.ts';
import { createPartOutliner, fillPart, type OutlinedPart } from '../../inference/pipelines/part-outlines.ts';
import { createPictureJudge } from '../../inference/pipelines/picture-judge.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Values that a mask has for parts. */
const MOST_PARTS = 255;

export const pipeline: PipelineDefinition = {
  task: 'part-segmentation',
  create: (model) => {
    const outline = createPartOutliner(model);
    const judge = createPictureJudge(model);
    return async ({ pictures, parameters }) => {
      const asked: Parameters = parameters;
      const picture = await onlyPicture(pictures);
      const found = (await outline(picture)).slice(0, MOST_PARTS);
      const result: Result = {
        ...(await judge(picture)),
        parts: found.map((part, index) => toResult(part, index + 1, picture)),
        mask: null,
      };
      const answer = applyParameters(result, asked);
      if (asked.include_mask !== true) return answer;
      // Only the pixels of parts that are listed have their value.
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

/** The smaller parts lie on the larger ones. */
function paintMask(parts: readonly { part: OutlinedPart; value: number }[], { width, height }: Size): MadePicture {
  const pixels = new Uint8Array(width * height);
  for (const { part, value } of parts) {
    fillPart(part, { width, height }).forEach((inside, pixel) => {
      if (inside > 0) pixels[pixel] = value;
    });
  }
  return { object: 'made_picture', width, height, channels: 1, pixels, format: 'png' };
}
