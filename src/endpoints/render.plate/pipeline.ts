/**
 * Picture → the same with its plates blurred, filled or replaced. Only where they are is asked of the model, which is one of
 * `plate.read`: what is written on them is not read.
 */
import { ServiceError } from '../../domain/service-error.ts';
import { clamp, toBoundingBox } from '../../inference/decoding/boxes.ts';
import { levelsOf } from '../../inference/images/compose.ts';
import { paintQuad, rectify } from '../../inference/images/rectify.ts';
import { lumaOf, type RgbImage } from '../../inference/images/rgb-image.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createPlateFinder } from '../../inference/pipelines/plates.ts';
import { growQuad } from '../../inference/pipelines/straighten.ts';
import { isInk, unwritable } from './lettering.ts';
import { DEFAULT_FILL_COLORS, DEFAULT_MODE, type Parameters } from './request.ts';

/** By which a plate's outline grows, so that nothing of its letters stays at an edge. */
const MARGIN = { x: 0.04, y: 0.1 };
/** A blurred plate is drawn from the mean colours of as many fields: fewer than a plate has letters, so none can be told. */
const FIELDS = { across: 3 };
/** The plate as it is looked at for its colours and its light. */
const SAMPLE = { width: 48, height: 12 };
const INK = [24, 24, 28] as const;
/** Of the lightest places of a plate: a share of white. Darker ones are taken for a plate that is dark itself. */
const LEAST_LIGHT = 0.2;

type ColourAt = (u: number, v: number) => readonly number[];

export const pipeline: PipelineDefinition = {
  task: 'plate-detection',
  create: (model) => {
    const findPlates = createPlateFinder(model);
    return async ({ pictures, parameters }) => {
      const { mode = DEFAULT_MODE, replacement_text: text, fill_color }: Parameters = parameters;
      const strange = text === undefined ? undefined : unwritable(text);
      if (strange !== undefined) {
        const message = `"replacement_text" has "${strange}": plates are written in A to Z, digits, spaces, dots and dashes. Send it in these.`;
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

/** Mean colours of fields, passing into each other. */
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

/** One colour; a plate that replaces another has its text, and lies in the light of what it replaces. */
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

/** Luma, 0 to 1, of the lightest tenth. */
function lightOf({ pixels }: RgbImage): number {
  const luma = Array.from({ length: pixels.length / 3 }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(pixel * 3, pixel * 3 + 3);
    return lumaOf(red, green, blue) / 255;
  });
  return luma.toSorted((a, b) => b - a)[Math.floor(luma.length / 10)] ?? 1;
}
