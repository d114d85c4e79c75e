/** Finds the vehicle of a request in a book. */
import type { EntityManager } from '../platform/database/orm.ts';
import { MOST_MILEAGE_KM } from './observation.ts';
import { findModelsOfMake, type KnownModel, listMakes, type MarketVersion } from './price-books-store.ts';
import { type Refusal, refused } from './refusal.ts';
import { makeKey, nameKey } from './vehicle-names.ts';
import { makesOfVin, modelYearOfVin } from './vin.ts';

/** The vehicle of a request, as far as a book can tell it from others. */
export interface RequestedVehicle {
  vin?: string;
  make?: string;
  model?: string;
  year?: number;
  mileage_km?: number;
}

export interface ResolvedVehicle extends KnownModel {
  year: number;
  /** Whether the make is that of the VIN. */
  resolvedFrom: 'vin' | 'attributes';
}

/** Most makes or models that a message names. */
const MOST_NAMED = 12;

/** A VIN's manufacturer supersedes the make; its year only fills in a missing one, for books go by registration. */
export async function resolveVehicle(
  em: EntityManager,
  version: MarketVersion,
  vehicle: RequestedVehicle,
): Promise<ResolvedVehicle | Refusal> {
  const name = `${version.book}@${version.version}`;
  const { vin, mileage_km: mileageKm = 0 } = vehicle;
  if (mileageKm > MOST_MILEAGE_KM) {
    return refused('vehicle.mileage_km', `There is no market beyond ${MOST_MILEAGE_KM} km. Check the mileage.`);
  }
  const makes = await listMakes(em, version.id);
  const make = chooseMake(vehicle, new Set(makes.map((known) => known.make)));
  if (make.key === null) {
    return vin === undefined || vehicle.make !== undefined
      ? refused(
          'vehicle.make',
          `The price book ${name} does not know this make. It knows ${listed(makes.map(({ makeName }) => makeName))}.`,
        )
      : refused('vehicle.vin', 'This VIN does not resolve to a make of the price book. Send "vehicle.make".');
  }
  const models = await findModelsOfMake(em, version.id, make.key);
  const names = listed(models.map(({ modelName }) => modelName));
  if (vehicle.model === undefined) {
    return refused('vehicle.model', `A VIN resolves to make and year. Send "vehicle.model" too, such as ${names}.`);
  }
  const model = models.find((known) => known.model === nameKey(vehicle.model ?? ''));
  if (!model)
    return refused(
      'vehicle.model',
      `The price book ${name} does not know this model of ${models[0]?.makeName}. It knows ${names}.`,
    );
  const year = findYear(version, vehicle, make.key);
  return typeof year === 'number' ? { ...model, year, resolvedFrom: make.from } : year;
}

function chooseMake(vehicle: RequestedVehicle, known: ReadonlySet<string>) {
  const stated = makeKey(vehicle.make ?? '');
  const ofVin = makesOfVin(vehicle.vin ?? '').filter((make) => known.has(make));
  // One manufacturer may sell under two makes.
  const fromVin = ofVin.find((make) => make === stated) ?? ofVin[0];
  if (fromVin !== undefined) return { key: fromVin, from: 'vin' as const };
  return { key: known.has(stated) ? stated : null, from: 'attributes' as const };
}

function findYear(
  { book, version, observedTo, earliestYear }: MarketVersion,
  { vin, year: stated }: RequestedVehicle,
  make: string,
) {
  const latest = Number(observedTo.slice(0, 4));
  const year = stated ?? modelYearOfVin(vin ?? '', make, latest);
  if (year === null) return refused('vehicle.year', 'This VIN does not state the year. Send "vehicle.year".');
  if (year > latest) {
    return refused(
      'vehicle.year',
      `The price book ${book}@${version} ends on ${observedTo}: a vehicle of ${year} is in its future.`,
    );
  }
  if (year < earliestYear) {
    return refused('vehicle.year', `The oldest vehicle of the price book ${book}@${version} is of ${earliestYear}.`);
  }
  return year;
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
