/** Picture → the damages, parts and plates on it that a hotspot can mark. */
import type { DAMAGE_TYPES } from '../../contracts/vocabulary/damages.ts';
import type { Part, SIDES } from '../../contracts/vocabulary/parts.ts';
import { type Model, usedModel } from '../../inference/models/model.ts';
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import type { Picture } from '../../inference/toolkit/pipeline.ts';
import type { OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { createDamageFinder } from './damage-finder.ts';
import { azimuthOfView, middleOf } from './hotspot-places.ts';
import type { SpinFrame } from './spin-set-frames.ts';

export interface Spot {
  /** Null for a part. */
  type: (typeof DAMAGE_TYPES)[number] | null;
  part: Part | null;
  side: (typeof SIDES)[number] | null;
  confidence: number;
  /** Shares of the width and height of the picture. */
  x: number;
  y: number;
}

export interface SeenPicture {
  spots: readonly Spot[];
  /** Of the camera, by the view of the picture; null without one. */
  azimuthDegrees: number | null;
  size: Size;
}

const FACES = {
  front_plate: ['front_bumper', 'grille', 'hood'],
  rear_plate: ['rear_bumper', 'trunk_lid'],
} as const;

function createSpotFinder(model: Model): (picture: RgbImage) => Promise<SeenPicture> {
  const find = createDamageFinder(model);
  const findPlates = model.uses.plates ? createPlateFinder(usedModel(model, 'plates')) : null;
  return async (picture) => {
    const { width, height } = picture;
    const { damages, parts, placeOf, assessment } = await find(picture);
    const at = (outline: readonly Point[]) => {
      const { x, y } = middleOf(outline);
      return { x: share(x, width), y: share(y, height) };
    };
    const ofDamages = damages.map(({ label, confidence, outline }): Spot => {
      const place = placeOf?.(outline) ?? null;
      return { type: label, part: place?.part ?? null, side: place?.side ?? null, confidence, ...at(outline) };
    });
    const ofParts = parts.map(({ part, side, confidence, outlines }): Spot => {
      return { type: null, part, side, confidence, ...at(outlines[0] ?? []) };
    });
    const plates = findPlates && parts.length > 0 ? await findPlates(picture) : [];
    const ofPlates = plates.flatMap(({ corners, confidence }): Spot[] => {
      const part = faceOfPlate(middleOf(corners), parts);
      return part ? [{ type: null, part, side: 'none', confidence, ...at(corners) }] : [];
    });
    return {
      spots: [...ofDamages, ...ofParts, ...mostConfident(ofPlates)],
      azimuthDegrees: azimuthOfView(assessment.view?.value ?? null),
      size: { width, height },
    };
  };
}

/**
 * Several pictures, one in memory at a time. The frames of a spin set state where the camera was.
 * @returns a function of pictures and, if they are those of a spin set, its frames
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createSpotsFinder(
  model: Model,
): (pictures: readonly Picture[], frames?: readonly SpinFrame[]) => Promise<SeenPicture[]> {
  const find = createSpotFinder(model);
  return async (pictures, frames) => {
    const seen: SeenPicture[] = [];
    for (const [index, picture] of pictures.entries()) {
      const found = await find(await picture.decode());
      seen.push({ ...found, azimuthDegrees: frames?.[index]?.azimuth_degrees ?? found.azimuthDegrees });
    }
    return seen;
  };
}

/** The plate of the smallest face whose box holds its middle; null for a plate on neither: it may be another vehicle's. */
function faceOfPlate({ x, y }: Point, parts: readonly OutlinedPart[]): keyof typeof FACES | null {
  const [face] = parts
    .filter(({ box }) => x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1)
    .toSorted((a, b) => a.area - b.area)
    .flatMap(({ part }) =>
      (Object.keys(FACES) as (keyof typeof FACES)[]).filter((name) => FACES[name].some((each) => each === part)),
    );
  return face ?? null;
}

/** A vehicle has one plate on each face. */
function mostConfident(spots: readonly Spot[]): Spot[] {
  const best = new Map<string | null, Spot>();
  for (const spot of spots.toSorted((a, b) => a.confidence - b.confidence)) best.set(spot.part, spot);
  return [...best.values()];
}

/** To a thousandth of the picture. */
export function share(value: number, whole: number): number {
  return Math.min(1, Math.max(0, Math.round((value / whole) * 1000) / 1000));
}
