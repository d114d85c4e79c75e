/** Reads a picture with any network that outlines parts: the parts, the view and defects of the picture. */
import { COMPASS_VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import type { Model } from '../../models/model.ts';
import { holdsMiddle } from '../decoding/boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createPictureAssessor, type PictureAssessment } from '../quality/picture-assessment.ts';
import { createPartOutliner, type OutlinedPart } from './part-outlines.ts';
import { withSharedRuns } from './shared-runs.ts';
import { createVehicleOutliner, type OutlinedVehicle } from './vehicle-outlines.ts';
import { findsVehicleParts } from './vehicle-parts.ts';
import { viewOfParts } from './view-of-parts.ts';

export interface ReadParts {
  /** Largest first; empty for a model that finds parts only. */
  vehicles: OutlinedVehicle[];
  /** Largest first. A model that finds vehicles finds parts on them only. */
  parts: OutlinedPart[];
  /**
   * Of a model that finds vehicles, there is a compass view of a vehicle that it finds only. Where its file `view` tells none, or
   * it has no such file, the view follows from the parts; where the parts show the opposite face or side, there is no view.
   */
  assessment: PictureAssessment;
}

/** @throws Error that names the field of `model.json` that is missing or wrong */
export function createPartReader(given: Model): (picture: RgbImage) => Promise<ReadParts> {
  const model = withSharedRuns(given);
  const outline = createPartOutliner(model);
  const assess = createPictureAssessor(model);
  if (!findsVehicleParts(model)) {
    return async (picture) => ({
      vehicles: [],
      parts: await outline(picture),
      assessment: await assess(picture),
    });
  }
  const outlineVehicles = createVehicleOutliner(model);
  return async (picture) => {
    const vehicles = await outlineVehicles(picture);
    const found = vehicles.length > 0 ? await outline(picture) : [];
    const parts = found.filter((part) => vehicles.some((vehicle) => holdsMiddle(vehicle.box, part.box)));
    const { view, quality_issues } = await assess(picture);
    const ofVehicle = vehicles.length > 0 || !isCompassView(view) ? view : null;
    return { vehicles, parts, assessment: { view: settled(ofVehicle, viewOfParts(parts)), quality_issues } };
  };
}

type View = PictureAssessment['view'];

function isCompassView(view: View): boolean {
  return COMPASS_VIEWS.some((compassView) => compassView === view?.value);
}

/** @param byParts the view that the parts show */
function settled(told: View, byParts: View): View {
  return told && byParts && areOpposite(told.value, byParts.value) ? null : (told ?? byParts);
}

/** Such as `front_left` and `rear_left`, or `left` and `front_right`. */
function areOpposite(one: string, other: string): boolean {
  const sides = [
    ['front', 'rear'],
    ['left', 'right'],
  ] as const;
  const has = (view: string, name: string) => view.split('_').includes(name);
  return sides.some(([a, b]) => (has(one, a) && has(other, b)) || (has(one, b) && has(other, a)));
}
