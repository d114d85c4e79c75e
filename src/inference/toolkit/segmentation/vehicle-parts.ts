/** Models that find a vehicle and its parts: `files.detector` outlines the parts, `files.vehicle` the vehicle. */
import type { Model } from '../../models/model.ts';

/** The task of such a model, for every endpoint that it can serve. */
export const VEHICLE_PARTS = 'vehicle-parts';

export function findsVehicleParts({ manifest }: Model): boolean {
  return manifest.task === VEHICLE_PARTS;
}
