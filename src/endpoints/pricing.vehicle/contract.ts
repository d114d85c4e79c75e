import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { PRICE_BOOKS } from './price-books.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingVehicle = {
  slug: 'pricing.vehicle',
  title: 'Vehicle pricing',
  description:
    'Values a vehicle in three channels (trade-in, private and retail), with the adjustments and the market observations ' +
    'behind the values. The valuation rests on the attributes; pictures only refine the condition. Every amount is an ' +
    'integer in the minor unit of `currency`. A valuation is a market estimate, not an offer. ' +
    'The only price book is `eu-de`, for Germany; other books and countries are refused. ' +
    'In test mode the figures are simulated: make, model, year and mileage move them, always in the same way.',
  family: 'money',
  preview: true,
  ...FAST,
  priceCredits: 50,
  files,
  parameters,
  refine,
  result,
  scenarios: {
    empty_result: 'The price book does not know the vehicle: no values and no observations.',
    low_confidence: 'Values in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    thin_market: 'A rare vehicle: two observations and wide ranges.',
    vin_not_resolved: 'The VIN does not resolve: the vehicle is valued by its attributes.',
  },
} as const satisfies EndpointContract;

/** A vehicle needs a VIN, or make, model and year; its country needs a price book. */
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
