/**
 * Picture → the same picture with its plates blurred, masked or replaced: all that `plate.read` names with the same model, and
 * what its detector is less sure of. That is blurred in every mode: it may be a badge, on which no number is to stand. What it reads
 * goes nowhere.
 */
import type { Model } from '../../inference/models/model.ts';
import {
  areaOfBox,
  clamp,
  intersectionArea,
  type Size,
  toBoundingBox,
} from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround, clampQuad, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { fitQuad, turnTo, withPoints } from '../../inference/toolkit/detection/fit-quad.ts';
import { createPlateCandidateFinder } from '../../inference/toolkit/detection/plates.ts';
import { levelsOf } from '../../inference/toolkit/images/compose.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { paintQuad, rectify } from '../../inference/toolkit/images/rectify.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { distance, growQuad } from '../../inference/toolkit/text/straighten.ts';
import { type PrintedLine, readsPrint } from '../../inference/toolkit/text/text-lines.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { createPlateReader, largestFirst } from '../shared/plate-reader.ts';
import { type Appearance, appearanceOf, colourAcross, grainAt } from './appearance.ts';
import { setText, unwritable } from './lettering.ts';
import { DEFAULT_FILL_COLORS, DEFAULT_MODE, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Share of its height by which a plate's outline grows on every side, so that no part of a letter remains at an edge. */
const MARGIN = 0.07;
/** Share of a line's height that its outline is larger than its letters, above and below. */
const LOOSE = 0.12;
/** Confidence from which something without a number is a plate: road signs have been taken for one with 0.47. */
const PLATE_WITHOUT_NUMBER = 0.6;
/** Print that stands on a plate with this share, and has this part of its height, is to be covered whole. */
const ON_PLATE = { share: 0.6, height: 0.25 };
/** A blurred plate consists of this many mean colours: fewer than its letters, so none can be recovered. */
const FIELDS = { across: 3 };
/** Sampling grid of a plate for its colours. */
const SAMPLE = { width: 48, height: 12 };

type ColourAt = (u: number, v: number, x: number, y: number) => readonly number[];

type FoundPlate = Pick<Result['plates'][number], 'confidence'> & { quad: Quad; isDoubtful: boolean };

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
        const size = sizeOf(quad);
        const cover = growQuad(quad, (MARGIN * size.height) / size.width, MARGIN);
        const margin = MARGIN * size.height;
        if (fill === null || isDoubtful) paintQuad(treated, cover, blurred(picture, quad), Math.min(1, 2 * margin));
        else if (mode === 'mask') paintQuad(treated, cover, () => levelsOf(fill), Math.min(1, 2 * margin));
        else {
          const appearance = appearanceOf(picture, quad);
          const soft = Math.min(Math.max(1, 2 * appearance.blur), 2 * margin);
          paintQuad(treated, cover, replaced(levelsOf(fill), text ?? '', sizeOf(cover), appearance), soft);
        }
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
        plates: found
          .map(({ confidence, quad }) => {
            // Fitted edges may meet beyond the picture.
            const shown = clampQuad(quad, picture);
            return { confidence, bbox: toBoundingBox(boxAround(shown)), quad: toPolygon(shown) };
          })
          .toSorted(largestFirst),
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
      const { plates, doubtful, lines } = await readPlates(picture, {});
      return [...plates, ...doubtful].map((plate) => {
        const isDoubtful = doubtful.includes(plate) || (plate.text === null && plate.confidence < PLATE_WITHOUT_NUMBER);
        const quad = growQuad(plate.quad, 0, 0);
        return { confidence: plate.confidence, quad: isDoubtful ? quad : fitPlate(picture, quad, lines), isDoubtful };
      });
    };
  }
  const findCandidates = createPlateCandidateFinder(model);
  return async (picture) =>
    (await findCandidates(picture))
      .filter(({ isToCover }) => isToCover)
      .map(({ confidence, corners, isSure }) => {
        const quad = growQuad(corners, 0, 0);
        return { confidence, quad: isSure ? fitPlate(picture, quad, []) : quad, isDoubtful: !isSure };
      });
}

/** The plate as its edges show it, with all the print on it. */
function fitPlate(picture: RgbImage, found: Quad, lines: readonly PrintedLine[]): Quad {
  const { height } = sizeOf(found);
  const print = lines
    .map(({ quad }) => growQuad(quad, 0, -LOOSE))
    .filter((line) => shareWithin(found, line) >= ON_PLATE.share && sizeOf(line).height >= ON_PLATE.height * height);
  const [longest] = print.toSorted((one, other) => sizeOf(other).width - sizeOf(one).width);
  return withPoints(fitQuad(picture, longest ? turnTo(found, longest) : found), print.flat());
}

/** Mean colours of the fields, interpolated. */
function blurred(picture: RgbImage, quad: Quad): ColourAt {
  const { pixels } = rectify(picture, quad, SAMPLE.width, SAMPLE.height);
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
  return (u) => colourAcross(fields, u).map(Math.round);
}

/** A plate of another colour and text, as the camera saw the one before it: in its light, as blurred, and with grain. */
function replaced(
  ground: readonly number[],
  text: string,
  plate: Size,
  { whiteAt, black, blur, grain }: Appearance,
): ColourAt {
  const depthAt = text === '' ? () => Number.NEGATIVE_INFINITY : setText(text, plate);
  return (u, v, x, y) => {
    const ink = smoothStep(depthAt(u, v) / blur);
    const noise = grain * grainAt(x, y);
    return whiteAt(u).map((white, channel) => {
      const lit = (white * (ground[channel] ?? 255)) / 255;
      return Math.round(clamp(lit + ((black[channel] ?? 0) - lit) * ink + noise, 0, 255));
    });
  };
}

/** The share of a straight edge that a Gaussian of deviation 1 has seen so far from it: from 0 outside to 1 inside. Source: Bowling 2009. */
function smoothStep(deviations: number): number {
  return 1 / (1 + Math.exp(-1.702 * deviations));
}

/** Share of a line's box that lies within the plate's. */
function shareWithin(plate: Quad, line: Quad): number {
  return intersectionArea(boxAround(plate), boxAround(line)) / areaOfBox(boxAround(line));
}

function sizeOf([a, b, c, d]: Quad): Size {
  return { width: (distance(a, b) + distance(d, c)) / 2, height: (distance(a, d) + distance(b, c)) / 2 };
}
