import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { PRICE_BOOKS } from './price-books.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingVehicle = {
  slug: 'pricing.vehicle',
  title: 'Vehicle pricing',
  description:
    'Values a vehicle in three channels, trade-in, private and retail, with the adjustments that led there and the market ' +
    'observations behind it. The attributes drive the answer; pictures only refine the condition. Every amount is an ' +
    'integer in the minor unit of `currency`. A valuation is an estimate of the market, not an offer. ' +
    'There is one price book, `eu-de`, for Germany; another one, and another country, is refused. ' +
    'In test mode the figures are those of one fixture, whatever vehicle is asked for, in the `currency` that is.',
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

/** A vehicle is known by its VIN, or by what it is, and priced where there is a book. */
function refine({ parameters }: ValidRequest): RequestProblem | null {
  const { vehicle, country } = parameters as Parameters;
  const missing = (['make', 'model', 'year'] as const).find((name) => vehicle[name] === undefined);
  if (vehicle.vin !== undefined || !missing) return withoutBook(country);
  return {
    param: `vehicle.${missing}`,
    message: 'Send "vehicle.vin", or "vehicle.make", "vehicle.model" and "vehicle.year".',
    isMissing: true,
  };
}

function withoutBook(country: Parameters['country']): RequestProblem | null {
  const countries: string[] = Object.values(PRICE_BOOKS).map((book) => book.country);
  if (country === undefined || countries.includes(country)) return null;
  return {
    param: 'country',
    message: `There is no price book for ${country}. Leave "country" out, or send one of: ${countries.join(', ')}.`,
  };
}
