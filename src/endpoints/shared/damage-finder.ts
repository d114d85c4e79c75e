/**
 * Picture → the damages on a vehicle and what was examined, with a network that outlines damages. With a model for vehicles and
 * their parts in `uses.parts`, only what lies on a vehicle counts. Where it is sure of the vehicle, a damage has a part; wheels,
 * and plates with `uses.plates`, give the scale.
 */
import { Type } from 'typebox';
import { DAMAGE_TYPES } from '../../contracts/vocabulary/damages.ts';
import { fileEntry, type Model, usedModel } from '../../inference/models/model.ts';
import { readSettings } from '../../inference/models/settings.ts';
import { calibrated } from '../../inference/toolkit/calibration.ts';
import { type Box, expandBox, holdsMiddle, type Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { createDetector, type Detection, OUTLINE_DECODERS } from '../../inference/toolkit/detection/detector.ts';
import { createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { cutTile } from '../../inference/toolkit/images/tiles.ts';
import { createPictureAssessor, type PictureAssessment } from '../../inference/toolkit/quality/picture-assessment.ts';
import type { OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { createPartReader, type ReadParts } from '../../inference/toolkit/segmentation/part-reader.ts';
import { partsInView } from '../../inference/toolkit/segmentation/view-of-parts.ts';
import { createPlaces, type Place } from './damage-places.ts';
import { fitsVehicle, type Measured, measure, type Reference, scaleOfPlate, scaleOfWheel } from './damage-scale.ts';

export const DAMAGE_SEGMENTATION = 'damage-segmentation';

export type FoundDamage = Detection<(typeof DAMAGE_TYPES)[number]> & { outline: Point[] };

export interface SeenDamages {
  /** Whether a vehicle shows; always true for a model without `uses.parts`, which can't tell. */
  showsVehicle: boolean;
  /** Of vehicles that the parts model is sure of, as for `vehicle.pose`: on a close-up smooth panels are taken for any part. */
  parts: OutlinedPart[];
  assessment: PictureAssessment;
  /** Most confident first. */
  damages: FoundDamage[];
  /** Where an outline lies; null for a model without `uses.parts`. */
  placeOf: ((outline: readonly Point[]) => Place) | null;
  /** How large an outline is; null without a scale. */
  sizeOf: (outline: readonly Point[]) => Promise<Measured | null>;
}

const settings = Type.Object({
  thresholds: Type.Optional(
    Type.Object({
      /** Confidence from which something with damage is a vehicle; by default, and at most, that of the model in `uses.parts`. */
      vehicle: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    }),
  ),
  rules: Type.Optional(
    Type.Object({
      /** Log-odds of the network → log-odds that a damage is one. */
      confidence: Type.Optional(Type.Object({ slope: Type.Number({ exclusiveMinimum: 0 }), offset: Type.Number() })),
    }),
  ),
});

/** Least share of a damage that lies on a vehicle: crushed metal is often not outlined as one. */
export const LEAST_ON_VEHICLE = 0.3;
/** Share of a vehicle's box by which the window grows in which damages are looked for. */
const MARGIN = 0.06;
/** A vehicle with a larger share of the picture's longer side is looked at with the whole picture. */
const FILLS_PICTURE = 0.8;

/** @throws Error that names the field of `model.json` that is missing or wrong */
export function createDamageFinder(model: Model): (picture: RgbImage) => Promise<SeenDamages> {
  const { thresholds, rules } = readSettings(model, settings);
  const detect = createDetector(model, DAMAGE_TYPES, OUTLINE_DECODERS);
  const find = async (picture: RgbImage, window: Box) =>
    (await detectWithin(detect, picture, window)).flatMap(({ outline, confidence, ...found }) => {
      if (!outline) return [];
      return [
        { ...found, outline, confidence: rules?.confidence ? calibrated(confidence, rules.confidence) : confidence },
      ];
    });
  const assess = createPictureAssessor(model);
  if (model.uses.parts === undefined) {
    return async (picture) => ({
      showsVehicle: true,
      parts: [],
      assessment: await assess(picture),
      damages: await find(picture, wholeOf(picture)),
      placeOf: null,
      sizeOf: async () => null,
    });
  }
  const partsModel = usedModel(model, 'parts');
  const sure = vehicleScoreOf(partsModel) ?? 0;
  const readParts = createPartReader(withVehicleScore(partsModel, Math.min(thresholds?.vehicle ?? sure, sure)));
  const findPlates = model.uses.plates ? createPlateFinder(usedModel(model, 'plates')) : null;
  return async (picture) => {
    const { vehicles, assessment, ...read } = await readParts(picture);
    const [main] = vehicles;
    const surely = vehicles.filter(({ confidence }) => confidence >= sure);
    const ofSure = read.parts.filter(({ box }) => surely.some((vehicle) => holdsMiddle(vehicle.box, box)));
    const parts = partsInView(ofSure, assessment.view);
    const placeOf = createPlaces(parts, outlinesOf(vehicles), picture);
    const found = main ? await find(picture, windowAround(main.box, picture)) : [];
    const damages = found.filter(({ outline }) => placeOf(outline).onVehicle >= LEAST_ON_VEHICLE);
    // What is a vehicle only by the lower bar, and shows no damage, may be anything.
    if (surely.length === 0 && damages.length === 0) return nothingIn(await assess(picture));
    let references: Promise<Reference[]> | null = null;
    const quality = (await assess(picture)).quality_issues;
    const [largest] = surely;
    if (!largest) {
      return {
        ...nothingIn({ view: null, quality_issues: [...assessment.quality_issues, ...quality] }),
        showsVehicle: true,
        damages,
        placeOf: (outline) => ({ ...placeOf(outline), vehicleShare: null }),
      };
    }
    return {
      showsVehicle: true,
      parts,
      assessment: { ...assessment, quality_issues: [...assessment.quality_issues, ...quality] },
      damages,
      placeOf,
      sizeOf: async (outline) => {
        references ??= findReferences(parts, findPlates, picture);
        const fitting = (await references).filter((reference) => fitsVehicle(reference, largest.box));
        return measure(outline, fitting, picture);
      },
    };
  };
}

function nothingIn({ quality_issues }: PictureAssessment): SeenDamages {
  return {
    showsVehicle: false,
    parts: [],
    assessment: { view: null, quality_issues },
    damages: [],
    placeOf: null,
    sizeOf: async () => null,
  };
}

/** Confidence from which the model calls something a vehicle; null for a decoder other than that of semantic segmentation. */
function vehicleScoreOf(model: Model): number | null {
  const { decoder } = fileEntry(model, 'vehicle');
  return decoder?.name === 'semantic-segmentation' ? decoder.score : null;
}

/** The model with another such confidence: a close-up of one panel shows a vehicle, but little of it. */
function withVehicleScore(model: Model, score: number): Model {
  const { decoder, ...vehicle } = fileEntry(model, 'vehicle');
  if (decoder?.name !== 'semantic-segmentation') return model;
  const files = { ...model.manifest.files, vehicle: { ...vehicle, decoder: { ...decoder, score } } };
  return { ...model, run: (...args) => model.run(...args), manifest: { ...model.manifest, files } };
}

async function detectWithin(
  detect: ReturnType<typeof createDetector<(typeof DAMAGE_TYPES)[number]>>,
  picture: RgbImage,
  { x0, y0, x1, y1 }: Box,
) {
  if (x0 === 0 && y0 === 0 && x1 === picture.width && y1 === picture.height) return detect(picture);
  const found = await detect(cutTile(picture, x0, y0, x1 - x0, y1 - y0));
  return found.map(({ box, outline, ...others }) => ({
    ...others,
    box: { x0: box.x0 + x0, y0: box.y0 + y0, x1: box.x1 + x0, y1: box.y1 + y0 },
    outline: outline?.map(({ x, y }) => ({ x: x + x0, y: y + y0 })) ?? null,
  }));
}

function windowAround(box: Box, picture: Size): Box {
  const largest = Math.max((box.x1 - box.x0) / picture.width, (box.y1 - box.y0) / picture.height);
  if (largest >= FILLS_PICTURE) return wholeOf(picture);
  const { x0, y0, x1, y1 } = expandBox(box, MARGIN, MARGIN, picture);
  return { x0: Math.floor(x0), y0: Math.floor(y0), x1: Math.ceil(x1), y1: Math.ceil(y1) };
}

function wholeOf({ width, height }: Size): Box {
  return { x0: 0, y0: 0, x1: width, y1: height };
}

function outlinesOf(vehicles: ReadParts['vehicles']): Point[][] {
  return vehicles.flatMap(({ outline }) => (outline ? [outline] : []));
}

async function findReferences(
  parts: readonly OutlinedPart[],
  findPlates: ReturnType<typeof createPlateFinder> | null,
  picture: RgbImage,
): Promise<Reference[]> {
  const wheels = parts
    .filter(({ part }) => part === 'front_wheel' || part === 'rear_wheel')
    .flatMap(({ box }) => scaleOfWheel(box, picture) ?? []);
  const plates = (await findPlates?.(picture)) ?? [];
  return [...wheels, ...plates.flatMap(({ box, corners }) => scaleOfPlate(box, corners, picture) ?? [])];
}
