/** The repair estimate: the result of `pricing.repair`, and a part of an inspection's. */
import { Type } from 'typebox';
import { damageId } from './damage-schemas.ts';
import { REPAIR_METHODS } from './damages.ts';
import { partName, side } from './part-schemas.ts';
import { country, NOT_PRICED_REASONS, PART_QUALITIES } from './pricing.ts';
import { closed, confidence, currency, MONEY_MINOR_UNITS, nullable } from './schemas.ts';

const cost = (description?: string) =>
  Type.Integer({ minimum: 0, description: description ? `${description} ${MONEY_MINOR_UNITS}` : MONEY_MINOR_UNITS });
const hours = Type.Number({ minimum: 0, description: 'In hours.' });

const rates = closed({
  labour: cost('Of an hour of body work.'),
  paint: cost('Of an hour in the paint shop.'),
  source: Type.Enum(['request', 'regional_average'], {
    description: '`request` where at least the labour rate was given.',
  }),
});

const sparePart = closed({
  part: partName,
  side,
  part_number: nullable(Type.String({ description: "The maker's; null where it can't be told." })),
  quality: Type.Enum(PART_QUALITIES),
  quantity: Type.Integer({ minimum: 1 }),
  unit_price: cost(),
  total: cost('`quantity` × `unit_price`.'),
});

const operation = closed({
  id: Type.String({ pattern: '^operation_[0-9]+$' }),
  damage_ids: Type.Array(damageId, { minItems: 1, description: 'The damages it repairs.' }),
  part: partName,
  side,
  method: Type.Enum(REPAIR_METHODS),
  labour_hours: hours,
  paint_hours: hours,
  labour: cost('`labour_hours` at the labour rate.'),
  paint: cost('`paint_hours` at the paint rate.'),
  paint_materials: cost(),
  parts: Type.Array(sparePart, { description: 'What is bought for it.' }),
  net: cost('All of it, before tax.'),
  confidence,
});

const totals = closed({
  labour: cost(),
  paint: cost(),
  paint_materials: cost(),
  parts: cost(),
  net: cost('The four above.'),
  tax_rate_percent: Type.Number({ minimum: 0, maximum: 100 }),
  tax: cost(),
  gross: cost('`net` + `tax`.'),
});

export const repairEstimate = closed({
  currency,
  country,
  rates,
  operations: Type.Array(operation, { description: 'Most expensive first.' }),
  totals,
  range: nullable(
    closed({ low: cost(), high: cost() }, 'Between which the gross total lies, at nine out of ten; null without one.'),
  ),
  repair_days: nullable(Type.Integer({ minimum: 0, description: 'Working days in the shop.' })),
  not_priced: Type.Array(closed({ damage_id: damageId, reason: Type.Enum(NOT_PRICED_REASONS) }), {
    description: 'Damages that are in no operation, and so not in the totals.',
  }),
});

export type RepairEstimate = Type.Static<typeof repairEstimate>;
