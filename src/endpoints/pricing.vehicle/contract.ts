import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingVehicle = {
  slug: 'pricing.vehicle',
  title: 'Vehicle pricing',
  description:
    'Values a vehicle in three channels, trade-in, private and retail, with the adjustments that led there and the market ' +
    'observations behind it. The attributes drive the answer; pictures only refine the condition. Every amount is an ' +
    'integer in the minor unit of `currency`. A valuation is an estimate of the market, not an offer. ' +
    'In test mode the figures are those of one fixture whatever is asked for: `price_book`, `country` and `currency` are ' +
    'answered as they were sent, and no amount is converted.',
  family: 'money',
  preview: true,
  ...FAST,
  priceCredits: 50,
  files,
  parameters,
  refine,
  result,
  scenarios: {
    empty_result: 'The price book does not know the vehicle: no values, no observations.',
    low_confidence: 'Values in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    thin_market: 'A rare vehicle: two observations, and ranges that are wide.',
    vin_not_resolved: 'The VIN leads nowhere: the vehicle is priced by its attributes.',
  },
} as const satisfies EndpointContract;

/** A vehicle is known by its VIN, or by what it is. */
function refine({ parameters }: ValidRequest): RequestProblem | null {
  const { vehicle } = parameters as Parameters;
  const missing = (['make', 'model', 'year'] as const).find((name) => vehicle[name] === undefined);
  if (vehicle.vin !== undefined || !missing) return null;
  return {
    param: `vehicle.${missing}`,
    message: 'Send "vehicle.vin", or "vehicle.make", "vehicle.model" and "vehicle.year".',
    isMissing: true,
  };
}
