import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { EARLIEST_MODEL_YEAR, MINOR_UNITS_PER_EURO_CENT, PRICE_BOOKS } from './price-books.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';
import { PRICE_CREDITS, stagePlan } from './stage-plan.ts';

export const pricingVehicle = {
  slug: 'pricing.vehicle',
  title: 'Vehicle pricing',
  description:
    'Values a vehicle in three channels (trade-in, private and retail), with the adjustments and the market observations ' +
    'behind the values. The valuation rests on the attributes; pictures only refine the condition. Every amount is an ' +
    'integer in the minor unit of `currency`. A valuation is a market estimate, not an offer. ' +
    'Live values come from the price books that the operator has imported: they are asking prices on the day that the book ' +
    'ends, and `price_book` names the version that gave them. Damage that pictures show lowers the condition if it is sure; ' +
    'pictures without damage leave the usual one. ' +
    'In test mode the only price book is `eu-de`, for Germany and model years from ' +
    `${EARLIEST_MODEL_YEAR} to next year, and the figures are simulated: make, model, year and mileage ` +
    'move them, always in the same way.',
  family: 'money',
  preview: true,
  ...FAST,
  inferenceTaskQueue: TASK_QUEUES.valuation,
  usesPriceBooks: 'market',
  priceCredits: PRICE_CREDITS,
  stagePlan,
  files,
  parameters,
  refine,
  refineTestMode,
  result,
  scenarios: {
    empty_result: 'The price book does not know the vehicle: no values and no observations.',
    low_confidence: 'Values in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    thin_market: 'A vehicle that is rarely sold: two observations and wide ranges.',
    vin_not_resolved:
      'The VIN does not resolve: the vehicle is valued by its `make`, `model` and `year`; without them it has no values.',
  },
} as const satisfies EndpointContract;

/** A vehicle needs a VIN, or make, model and year. */
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

/** The fixtures are of one book, which covers some years, and convert to a few currencies. */
function refineTestMode({ parameters }: ValidRequest, now: Date): RequestProblem | null {
  const { price_book, currency, country, vehicle } = parameters as Parameters;
  const countries = Object.values(PRICE_BOOKS).map((book) => book.country);
  return (
    notOneOf('price_book', price_book, Object.keys(PRICE_BOOKS)) ??
    notOneOf('currency', currency, Object.keys(MINOR_UNITS_PER_EURO_CENT)) ??
    notOneOf('country', country, countries) ??
    outsideBook(vehicle.year, now)
  );
}

function notOneOf(param: string, value: string | undefined, known: readonly string[]): RequestProblem | null {
  if (value === undefined || known.includes(value)) return null;
  return { param, message: `In test mode "${param}" must be one of: ${known.join(', ')}.` };
}

function outsideBook(year: number | undefined, now: Date): RequestProblem | null {
  const latest = now.getUTCFullYear() + 1;
  if (year === undefined || (EARLIEST_MODEL_YEAR <= year && year <= latest)) return null;
  return {
    param: 'vehicle.year',
    message: `The price book covers model years from ${EARLIEST_MODEL_YEAR} to ${latest}.`,
  };
}
