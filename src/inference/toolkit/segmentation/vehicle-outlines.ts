/** Outlines vehicles with any network that finds outlines, and along the edges of the picture where it says how sure it is. */
import { VEHICLE_CLASSES } from '../../../contracts/vocabulary/vehicles.ts';
import type { Model } from '../../models/model.ts';
import { boxAround } from '../decoding/rotated-boxes.ts';
import { createDetector, DETECTOR_FILE, type Detection, OUTLINE_DECODERS } from '../detection/detector.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { largestFirst, MATTING_FILE } from './matting.ts';
import { type RefinedMask, refineMask } from './refined-mask.ts';
import { withSharedRuns } from './shared-runs.ts';
import { createSoftMasker } from './soft-mask.ts';
import { findsVehicleParts } from './vehicle-parts.ts';

export type OutlinedVehicle = Detection<(typeof VEHICLE_CLASSES)[number]>;

/** A vehicle with the edges of the picture; `refined` is null where only the network's outline is known. */
export type RefinedVehicle = OutlinedVehicle & { refined: RefinedMask | null };

/** The file of a model for vehicles and their parts that finds the vehicles. */
const VEHICLE_FILE = 'vehicle';
/** Most vehicles of a picture that are refined, largest first: each takes about a second. */
const REFINED_VEHICLES = 3;

/**
 * @returns a function that returns vehicles, largest first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createVehicleOutliner(model: Model): (picture: RgbImage) => Promise<OutlinedVehicle[]> {
  const detect = createDetector(model, VEHICLE_CLASSES, OUTLINE_DECODERS, fileOf(model));
  return async (picture) => largestFirst(await detect(picture));
}

/** As `createVehicleOutliner`; without a matting network, with outlines and boxes along the edges of the picture. */
export function createRefinedOutliner(given: Model): (picture: RgbImage) => Promise<RefinedVehicle[]> {
  // Outlines and soft mask come from one run.
  const model = withSharedRuns(given);
  const outline = createVehicleOutliner(model);
  // A matting network looks at the edges itself.
  const readSoftMask = model.manifest.files[MATTING_FILE] ? null : createSoftMasker(model, fileOf(model));
  return async (picture) => {
    const found = await outline(picture);
    const softMask = found.length > 0 && readSoftMask ? await readSoftMask(picture) : null;
    const vehicles = found.map((vehicle, index): RefinedVehicle => {
      const { box, outline: own } = vehicle;
      if (!softMask || !own || index >= REFINED_VEHICLES) return { ...vehicle, refined: null };
      const others = found.flatMap((other) => (other === vehicle || !other.outline ? [] : [other.outline]));
      const refined = refineMask(picture, { box, outline: own }, others, softMask);
      if (!refined) return { ...vehicle, refined };
      return { ...vehicle, outline: refined.outline, box: boxAround(refined.outline), refined };
    });
    return largestFirst(vehicles);
  };
}

function fileOf(model: Model): string {
  return findsVehicleParts(model) ? VEHICLE_FILE : DETECTOR_FILE;
}
