import type { JobInput } from '../../contracts/job.ts';
import { MINOR_UNITS_PER_EURO_CENT } from './price-books.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import { valuedFor } from './test-mode-value.ts';
import { adjusted, converted, replaced } from './valuation.ts';

type Grade = NonNullable<Parameters['condition_grade']>;

/** Value of each grade in a fixture, as a fraction of the private base. */
const GRADE_SHARES: Readonly<Record<Grade, number>> = { A: 0.04, B: -0.015, C: -0.06, D: -0.14, E: -0.3 };

/** Applies the request to a fixture, whose amounts are in EUR. */
export function applyParameters(fixture: Result, parameters: Parameters, inputs: readonly JobInput[] = []): Result {
  const { include_comparables } = parameters;
  // Test mode admits no other currency.
  const currency = (parameters.currency ?? 'EUR') as keyof typeof MINOR_UNITS_PER_EURO_CENT;
  const vehicle = namedVehicle(fixture, parameters);
  const { vehicle: requested } = parameters as Partial<Parameters>;
  const named = vehicle ? { ...fixture, vehicle } : unidentified(fixture);
  const valued = vehicle && requested ? valuedFor(fixture, vehicle, requested) : named;
  const told = converted(valued, MINOR_UNITS_PER_EURO_CENT[currency]);
  const inCurrency: Result = {
    ...told,
    currency,
    comparables: include_comparables === false ? null : told.comparables,
  };
  return [inCondition(inputs), lessRepairs, plusMargin].reduce((result, step) => step(result, parameters), inCurrency);
}

/** The requested vehicle; null if neither its VIN nor its attributes identify it. A VIN resolves to the fixture's. */
function namedVehicle({ vehicle }: Result, { vehicle: requested }: Parameters): Result['vehicle'] {
  if (!vehicle || !requested) return vehicle;
  const mileage = { mileage_km: requested.mileage_km ?? null };
  if (requested.vin !== undefined && vehicle.resolved_from === 'vin')
    return { ...vehicle, ...mileage, vin: requested.vin };
  const { make, model, year, variant = null, vin = null } = requested;
  if (make === undefined || model === undefined || year === undefined) return null;
  return { ...mileage, make, model, year, variant, vin, resolved_from: 'attributes' };
}

/** As in the scenario `empty_result`. */
function unidentified(fixture: Result): Result {
  const nothing = { vehicle: null, condition: null, channels: null, adjustments: [], market: null, comparables: [] };
  return { ...fixture, ...nothing };
}

function inCondition(inputs: readonly JobInput[]) {
  return (result: Result, { condition_grade: grade, repair_estimate_total: repairs }: Parameters): Result => {
    const { condition, channels } = result;
    if (!condition || !channels) return result;
    if (grade === undefined) {
      const seen = [
        ...(inputs.length > 0 ? ['photos' as const] : []),
        ...(repairs ? ['repair_estimate' as const] : []),
      ];
      return {
        ...result,
        condition: { ...condition, sources: seen, confidence: seen[0] ? condition.confidence : null },
      };
    }
    const given: Result = { ...result, condition: { grade, sources: ['request'], confidence: null } };
    if (grade === condition.grade) return given;
    return adjusted(replaced(given, 'condition', null), {
      kind: 'condition',
      amount: Math.round(channels.private.base * GRADE_SHARES[grade]),
      channels: ['trade_in', 'private', 'retail'],
      reason: `Condition ${grade}`,
    });
  };
}

function lessRepairs(result: Result, { repair_estimate_total: repairs }: Parameters): Result {
  if (!repairs) return result;
  return adjusted(result, {
    kind: 'damage',
    amount: -repairs,
    channels: ['trade_in', 'private', 'retail'],
    reason: 'Repairs that are to be made',
  });
}

function plusMargin(result: Result, { margin_pct: percent }: Parameters): Result {
  if (!percent || !result.channels) return result;
  return adjusted(result, {
    kind: 'margin',
    amount: Math.round((result.channels.retail.value * percent) / 100),
    channels: ['retail'],
    reason: `Margin of ${percent} % on the retail figure`,
  });
}
