/**
 * Picture → the same picture with its plates blurred, masked or replaced. It uses the detector of a `plate.read` model and
 * never reads the plates.
 */
import { clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import { levelsOf } from '../../inference/toolkit/images/compose.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { paintQuad, rectify } from '../../inference/toolkit/images/rectify.ts';
import { lumaOf, type RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { growQuad } from '../../inference/toolkit/text/straighten.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { isInk, unwritable } from './lettering.ts';
import { DEFAULT_FILL_COLORS, DEFAULT_MODE, type Parameters } from './request.ts';

/** Fraction by which a plate's outline grows, so that no part of a letter remains at an edge. */
const MARGIN = { x: 0.04, y: 0.1 };
/** A blurred plate consists of this many mean colours: fewer than its letters, so none can be recovered. */
const FIELDS = { across: 3 };
/** Sampling grid of a plate for its colours and brightness. */
const SAMPLE = { width: 48, height: 12 };
const INK = [24, 24, 28] as const;
/** Minimum brightness of a plate, as a fraction of white. A darker sample is a dark plate, not low light. */
const LEAST_LIGHT = 0.2;

type ColourAt = (u: number, v: number) => readonly number[];

export const pipeline: PipelineDefinition = {
  tasks: ['plate-detection'],
  create: (model) => {
    const findPlates = createPlateFinder(model);
    return async ({ pictures, parameters }) => {
      const { mode = DEFAULT_MODE, replacement_text: text, fill_color }: Parameters = parameters;
      const strange = text === undefined ? undefined : unwritable(text);
      if (strange !== undefined) {
        const message = `"replacement_text" contains "${strange}". Use A to Z, digits, spaces, dots and dashes only.`;
        throw new ServiceError('input_unreadable', message, { param: 'replacement_text' });
      }
      const fill = mode === 'blur' ? null : (fill_color?.toLowerCase() ?? DEFAULT_FILL_COLORS[mode]);
      const picture = await onlyPicture(pictures);
      const treated = { ...picture, pixels: new Uint8Array(picture.pixels) };
      const plates = await findPlates(picture);
      for (const { corners } of plates) {
        const quad = growQuad(corners, MARGIN.x, MARGIN.y);
        const seen = rectify(picture, corners, SAMPLE.width, SAMPLE.height);
        paintQuad(
          treated,
          quad,
          fill === null ? blurred(seen) : filled(fill, mode === 'replace' ? { text, seen } : null),
        );
      }
      const { width, height, pixels } = treated;
      const image: MadePicture = {
        object: 'made_picture',
        width,
        height,
        channels: 3,
        pixels,
        format: pictures[0]?.format ?? 'jpg',
      };
      return {
        image,
        mode,
        replacement_text: text ?? null,
        fill_color: fill,
        plates: plates.map(({ confidence, box, corners }) => ({ confidence, bbox: toBoundingBox(box), quad: corners })),
      };
    };
  },
};

/** Mean colours of the fields, interpolated. */
function blurred({ pixels }: RgbImage): ColourAt {
  const fields = Array.from({ length: FIELDS.across }, (_, field) => {
    const [from, to] = [field, field + 1].map((edge) => Math.round((edge * SAMPLE.width) / FIELDS.across)) as [
      number,
      number,
    ];
    const sums = [0, 0, 0];
    for (let y = 0; y < SAMPLE.height; y += 1) {
      for (let index = (y * SAMPLE.width + from) * 3; index < (y * SAMPLE.width + to) * 3; index += 1) {
        sums[index % 3] = (sums[index % 3] ?? 0) + (pixels[index] as number);
      }
    }
    return sums.map((sum) => sum / ((to - from) * SAMPLE.height));
  });
  return (u) => {
    const place = clamp(u * FIELDS.across - 0.5, 0, FIELDS.across - 1);
    const first = Math.min(Math.floor(place), FIELDS.across - 2);
    const [left = [], right = []] = [fields[first], fields[first + 1]];
    return left.map((level, channel) => Math.round(level + ((right[channel] ?? level) - level) * (place - first)));
  };
}

/** A mask has one colour. A replacement plate has its text and the brightness of the original. */
function filled(colour: string, plate: { text: string | undefined; seen: RgbImage } | null): ColourAt {
  const levels = levelsOf(colour);
  if (!plate) return () => levels;
  const light = clamp(lightOf(plate.seen), LEAST_LIGHT, 1);
  const [ground, ink] = [levels, INK].map((each) => each.map((level) => Math.round(level * light))) as [
    number[],
    number[],
  ];
  const { text } = plate;
  return (u, v) => (text !== undefined && isInk(text, u, v) ? ink : ground);
}

/** The 90th percentile of luma, from 0 to 1. */
function lightOf({ pixels }: RgbImage): number {
  const luma = Array.from({ length: pixels.length / 3 }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(pixel * 3, pixel * 3 + 3);
    return lumaOf(red, green, blue) / 255;
  });
  return luma.toSorted((a, b) => b - a)[Math.floor(luma.length / 10)] ?? 1;
}
