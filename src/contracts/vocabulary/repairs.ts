/** The repair estimate: the result of `pricing.repair`, and part of that of `inspections`. */
import { Type } from 'typebox';
import { damageId, REPAIR_METHODS } from './damages.ts';
import { partName, side } from './parts.ts';
import { country, countryParameter, exchangeRate } from './pricing.ts';
import { closed, confidence, currency, MONEY_MINOR_UNITS, nullable } from './schemas.ts';

/** Origin of the replacement parts. */
export const PART_QUALITIES = ['original', 'equivalent', 'used'] as const;

/** Why no operation of the estimate covers a damage. */
export const NOT_PRICED_REASONS = ['part_unknown', 'no_repair_data', 'not_visible', 'cleaning_only'] as const;

const hourlyRate = (description: string) => Type.Integer({ minimum: 0, maximum: 100_000_000, description });

/** The parameters of every endpoint that estimates repairs. */
export const repairPriceParameters = {
  country: Type.Optional(countryParameter),
  currency: Type.Optional({
    ...currency,
    description:
      'ISO 4217. Defaults to the currency of the price book. In live mode amounts are converted at the imported rate; ' +
      'without one the request is refused. In test mode it is echoed.',
  }),
  labour_rate: Type.Optional(
    hourlyRate('Price of an hour of body work, in the minor unit of `currency`. Defaults to the regional average.'),
  ),
  paint_rate: Type.Optional(
    hourlyRate('Price of an hour in the paint shop. Defaults to `labour_rate`, or else to the regional average.'),
  ),
};

const cost = (description?: string) =>
  Type.Integer({ minimum: 0, description: description ? `${description} ${MONEY_MINOR_UNITS}` : MONEY_MINOR_UNITS });
const hours = Type.Number({ minimum: 0, description: 'In hours.' });

const rates = closed({
  labour: cost('Per hour of body work.'),
  paint: cost('Per hour in the paint shop.'),
  source: Type.Enum(['request', 'regional_average'], {
    description: '`request` if the request gave at least the labour rate.',
  }),
});

const sparePart = closed({
  part: partName,
  side,
  part_number: nullable(Type.String({ description: "The manufacturer's part number; null if unknown." })),
  quality: Type.Enum(PART_QUALITIES),
  quantity: Type.Integer({ minimum: 1 }),
  unit_price: cost(),
  total: cost('`quantity` × `unit_price`.'),
});

/** Work of an estimate. Each of the last three is done once, whichever damages need it. */
export const REPAIR_STEPS = ['repair', 'remove_and_refit', 'blend', 'paint_preparation'] as const;

const step = closed({
  kind: Type.Enum(REPAIR_STEPS, {
    description:
      '`repair`: of the part itself. `remove_and_refit`: of a part in the way. `blend`: paint let run out on the panel ' +
      'beside it. `paint_preparation`: mixing and matching the colour, and the booth.',
  }),
  part: nullable({ ...partName, description: 'Null for `paint_preparation`.' }),
  side,
  labour_hours: hours,
  paint_hours: hours,
  paint_materials: cost(),
});

const operation = closed({
  id: Type.String({ pattern: '^operation_[0-9]+$' }),
  damage_ids: Type.Array(damageId, { minItems: 1, description: 'The damages that the operation repairs.' }),
  part: partName,
  side,
  method: Type.Enum(REPAIR_METHODS),
  labour_hours: hours,
  paint_hours: hours,
  labour: cost('`labour_hours` at the labour rate.'),
  paint: cost('`paint_hours` at the paint rate.'),
  paint_materials: cost(),
  parts: Type.Array(sparePart, { description: 'Parts to buy for the operation.' }),
  net: cost('`labour`, `paint`, `paint_materials` and `parts`, before tax.'),
  confidence: nullable({ ...confidence, description: 'Null if the request stated a damage of the operation.' }),
  steps: Type.Optional(
    Type.Array(step, {
      minItems: 1,
      description: 'In live mode: the work behind the hours and the paint materials, which are the sums of its steps.',
    }),
  ),
});

const totals = closed({
  labour: cost(),
  paint: cost(),
  paint_materials: cost(),
  parts: cost(),
  net: cost('`labour` + `paint` + `paint_materials` + `parts`.'),
  tax_rate_percent: Type.Number({ minimum: 0, maximum: 100 }),
  tax: cost(),
  gross: cost('`net` + `tax`.'),
});

export const repairEstimate = closed({
  price_book: Type.Optional(
    Type.String({
      description: 'In live mode, with its version, such as `repairs-gb@3`: name it to repeat the estimate.',
    }),
  ),
  priced_on: Type.Optional(
    Type.String({ format: 'date', description: 'In live mode: the day of the newest price of the price book.' }),
  ),
  currency,
  exchange_rate: Type.Optional(exchangeRate),
  country,
  region: Type.Optional(
    nullable(Type.String({ description: 'In live mode: whose rates apply; null for those of the whole country.' })),
  ),
  rates,
  operations: Type.Array(operation, { description: 'Most expensive first.' }),
  totals,
  range: nullable(
    closed({ low: cost(), high: cost() }, '90 % confidence interval of the gross total; null if there is none.'),
  ),
  repair_days: nullable(Type.Integer({ minimum: 0, description: 'Working days in the body shop.' })),
  not_priced: Type.Array(closed({ damage_id: damageId, reason: Type.Enum(NOT_PRICED_REASONS) }), {
    description: 'Damages that no operation covers. They are not in the totals.',
  }),
});

export type RepairEstimate = Type.Static<typeof repairEstimate>;
