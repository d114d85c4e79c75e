/**
 * Pictures of one vehicle, in any order → where each was taken, and how each becomes a frame like the others, with a model for
 * vehicles and their parts. Its classifier `view` says from where each picture was taken, and the order of the files decides between
 * pictures of one view if it is a walk around the vehicle. Two passes over the pictures, one in memory at a time: the first looks, the
 * second draws.
 */
import { COMPASS_VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import type { Model } from '../../../inference/models/model.ts';
import type { Box, Size } from '../../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../../inference/toolkit/decoding/rotated-boxes.ts';
import { createViewShares } from '../../../inference/toolkit/detection/view-shares.ts';
import type { RgbImage } from '../../../inference/toolkit/images/rgb-image.ts';
import type { Picture } from '../../../inference/toolkit/pipeline.ts';
import type { OutlinedPart } from '../../../inference/toolkit/segmentation/part-outlines.ts';
import { createPartReader } from '../../../inference/toolkit/segmentation/part-reader.ts';
import { withSharedRuns } from '../../../inference/toolkit/segmentation/shared-runs.ts';
import { ServiceError } from '../../../platform/service-error.ts';
import type { Result } from '../../render.360/result.ts';
import { type Candidate, chooseFrames } from './choose-frames.ts';
import { brightnessOf, exposuresOf, type Placing, placeFrames, rollOf, type Seen } from './frame-corrections.ts';
import { type Ordered, orderFrames, type ViewShares } from './order-frames.ts';

export type LeftOut = Result['left_out'][number];
type Source = Result['frames'][number]['source'];

/** A picture that shows the vehicle from outside. */
interface Usable extends Omit<Seen, 'rollDegrees'> {
  picture: Picture;
  /** Of the picture in the request. */
  imageIndex: number;
  shares: ViewShares;
  parts: readonly OutlinedPart[];
  brightness: number;
  /** Edges of the picture that cut the vehicle off. */
  cutEdges: number;
}

/** A picture that becomes a frame. */
export interface Arranged extends Usable, Ordered, Candidate {
  rollDegrees: number;
}

/** A frame like the others: how it is drawn. */
export interface LevelFrame {
  arranged: Arranged;
  placing: Placing;
  /** Change of exposure. */
  stops: number;
}

/** A vehicle that this many edges cut off is too close to be a frame. */
const TOO_CLOSE_EDGES = 3;
/** A vehicle that is smaller, as a share of the longer side of the picture, would be a blur at the size of the others. */
const LEAST_SHARE = 0.2;
/** Weight of a cut-off vehicle beside a whole one. */
const CUT_OFF = 0.5;

/** @returns the pictures that become frames, by ascending azimuth, at most `most`; and the others, with the reasons */
export type ArrangeFrames = (
  pictures: readonly Picture[],
  most: number,
) => Promise<{ arranged: Arranged[]; leftOut: LeftOut[] }>;

export function createArrangeFrames(model: Model): ArrangeFrames {
  const look = createLook(model);
  return async (pictures, most) => {
    const usable: Usable[] = [];
    const unusable: LeftOut[] = [];
    for (const [imageIndex, picture] of pictures.entries()) {
      const seen = await look(picture, imageIndex);
      if ('reason' in seen) unusable.push(seen);
      else usable.push(seen);
    }
    if (usable.length === 0) {
      const shown = pictures.some(({ timeOffsetMs }) => timeOffsetMs !== undefined)
        ? 'No frame of the video'
        : 'No picture';
      const message = `${shown} shows a vehicle from outside that is large enough. Nothing was charged.`;
      throw new ServiceError('input_unreadable', message, { param: 'images' });
    }
    const arranged = arrange(usable, most);
    const again = usable
      .filter(({ imageIndex }) => !arranged.some((each) => each.imageIndex === imageIndex))
      .map(({ picture, imageIndex }): LeftOut => ({ ...sourceIn(picture, imageIndex), reason: 'same_view_again' }));
    return { arranged, leftOut: [...unusable, ...again].toSorted((a, b) => placeOf(a) - placeOf(b)) };
  };
}

/** Makes frames alike: level, with vehicles of one size in one place, and of one exposure. */
export function levelFrames(arranged: readonly Arranged[], frame: Size): LevelFrame[] {
  const placings = placeFrames(arranged, frame);
  const exposures = exposuresOf(arranged.map(({ brightness }) => brightness));
  return arranged.map((each, index) => {
    const [placing, stops = 0] = [placings[index], exposures[index]];
    if (!placing) throw new Error('a frame has no place');
    return { arranged: each, placing, stops };
  });
}

/** The picture of the request, or the moment of its video. */
export function sourceOf({ picture, imageIndex }: Arranged): Source {
  return sourceIn(picture, imageIndex);
}

function sourceIn({ timeOffsetMs }: Picture, imageIndex: number): Source {
  return timeOffsetMs === undefined
    ? { image_index: imageIndex, time_offset_ms: null }
    : { image_index: null, time_offset_ms: timeOffsetMs };
}

function placeOf({ image_index, time_offset_ms }: Source): number {
  return image_index ?? time_offset_ms ?? 0;
}

function createLook(given: Model): (picture: Picture, imageIndex: number) => Promise<Usable | LeftOut> {
  const model = withSharedRuns(given);
  const read = createPartReader(model);
  const readShares = createViewShares(model, COMPASS_VIEWS);
  return async (picture, imageIndex) => {
    const without = (reason: LeftOut['reason']) => ({ ...sourceIn(picture, imageIndex), reason });
    const image: RgbImage = await picture.decode();
    const {
      vehicles: [main],
      parts,
      assessment: { view },
    } = await read(image);
    if (!main?.outline) return without('no_vehicle');
    const cutEdges = edgesCutting(main.box, image);
    if (cutEdges >= TOO_CLOSE_EDGES) return without('too_close');
    if (shareOf(main.box, image) < LEAST_SHARE) return without('too_far');
    if (!view || !COMPASS_VIEWS.some((each) => each === view.value)) return without('not_outside');
    const shares =
      (await readShares(image)) ?? COMPASS_VIEWS.map((each) => (each === view.value ? view.confidence : 0));
    const { width, height } = image;
    const brightness = brightnessOf(image);
    return { picture, imageIndex, shares, parts, brightness, cutEdges, size: { width, height }, outline: main.outline };
  };
}

function arrange(usable: readonly Usable[], most: number): Arranged[] {
  const ordered = orderFrames(usable.map(({ shares }) => shares)).frames;
  const candidates = usable.flatMap((seen, index) => {
    const place = ordered[index];
    return place ? [{ ...seen, ...place, score: place.confidence * (seen.cutEdges > 0 ? CUT_OFF : 1) }] : [];
  });
  return chooseFrames(candidates, most).map((each) => {
    const box = boxAround(each.outline);
    return { ...each, rollDegrees: rollOf(each.parts, each.azimuthDegrees, box.x1 - box.x0) };
  });
}

/** Outlines end within a hundredth of an edge that cuts the vehicle off. */
const EDGE_SHARE = 0.01;

function edgesCutting({ x0, y0, x1, y1 }: Box, { width, height }: Size): number {
  const distances = [x0 / width, y0 / height, 1 - x1 / width, 1 - y1 / height];
  return distances.filter((distance) => distance < EDGE_SHARE).length;
}

function shareOf({ x0, y0, x1, y1 }: Box, { width, height }: Size): number {
  return Math.max(x1 - x0, y1 - y0) / Math.max(width, height);
}
