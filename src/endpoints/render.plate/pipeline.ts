/**
 * Picture → the same picture with its plates blurred, masked or replaced: all that `plate.read` names with the same model, and
 * what its detector is less sure of. That is blurred in every mode: it may be a badge, on which no number is to stand. What it reads
 * goes nowhere.
 */
import type { Model } from '../../inference/models/model.ts';
import { clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createPlateCandidateFinder } from '../../inference/toolkit/detection/plates.ts';
import { levelsOf } from '../../inference/toolkit/images/compose.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { paintQuad, rectify } from '../../inference/toolkit/images/rectify.ts';
import { lumaOf, type RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { growQuad } from '../../inference/toolkit/text/straighten.ts';
import { readsPrint } from '../../inference/toolkit/text/text-lines.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { createPlateReader, largestFirst } from '../shared/plate-reader.ts';
import { isInk, unwritable } from './lettering.ts';
import { DEFAULT_FILL_COLORS, DEFAULT_MODE, type Parameters } from './request.ts';
import type { Result } from './result.ts';

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

type FoundPlate = Result['plates'][number] & { isDoubtful: boolean };

export const pipeline: PipelineDefinition = {
  tasks: ['plate-detection'],
  create: (model) => {
    const findPlates = createFinder(model);
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
      const found = await findPlates(picture);
      for (const { quad, isDoubtful } of found) {
        const seen = rectify(picture, quad, SAMPLE.width, SAMPLE.height);
        paintQuad(
          treated,
          growQuad(quad, MARGIN.x, MARGIN.y),
          fill === null || isDoubtful ? blurred(seen) : filled(fill, mode === 'replace' ? { text, seen } : null),
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
        edits: found.length > 0 ? [`plate_${mode}`] : [],
      };
      return {
        image,
        mode,
        replacement_text: text ?? null,
        fill_color: fill,
        plates: found.map(({ confidence, bbox, quad }) => ({ confidence, bbox, quad })),
      };
    };
  },
};

/** A plate that the detector misses, or is not sure of, is found by the number on it where the model reads print. */
function createFinder(model: Model): (picture: RgbImage) => Promise<FoundPlate[]> {
  const { text } = model.uses;
  if (text && readsPrint(text)) {
    const readPlates = createPlateReader(model);
    return async (picture) => {
      const { plates, doubtful } = await readPlates(picture, {});
      return [...plates, ...doubtful].toSorted(largestFirst).map((plate) => ({
        confidence: plate.confidence,
        bbox: plate.bbox,
        quad: plate.quad,
        isDoubtful: doubtful.includes(plate),
      }));
    };
  }
  const findCandidates = createPlateCandidateFinder(model);
  return async (picture) =>
    (await findCandidates(picture))
      .filter(({ isToCover }) => isToCover)
      .map(({ confidence, box, corners, isSure }) => ({
        confidence,
        bbox: toBoundingBox(box),
        quad: corners,
        isDoubtful: !isSure,
      }));
}

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
