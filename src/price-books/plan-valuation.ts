/** Decides which book values a request, and whether it can: before anything is held, and again when the job runs. */
import type { EntityManager } from '../platform/database/orm.ts';
import { type BookRequest, type Conversion, chooseVersion, findConversion, type NoBook } from './choose-version.ts';
import type { MarketVersion } from './price-books-store.ts';
import type { Refusal } from './refusal.ts';
import { type RequestedVehicle, type ResolvedVehicle, resolveVehicle } from './resolve-vehicle.ts';

export interface ValuationRequest extends BookRequest {
  vehicle: RequestedVehicle;
  currency?: string;
}

export interface ValuationPlan extends Conversion {
  kind: 'planned';
  version: MarketVersion;
  vehicle: ResolvedVehicle;
}

export async function planValuation(
  em: EntityManager,
  request: ValuationRequest,
): Promise<ValuationPlan | Refusal | NoBook> {
  const chosen = await chooseVersion(em, 'market', request);
  if (chosen.kind !== 'chosen') return chosen;
  const { version } = chosen;
  const conversion = await findConversion(em, version, request.currency);
  if ('kind' in conversion) return conversion;
  const vehicle = await resolveVehicle(em, version, request.vehicle);
  if ('kind' in vehicle) return vehicle;
  return { kind: 'planned', version, vehicle, ...conversion };
}
