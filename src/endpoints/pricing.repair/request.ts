import { Type } from 'typebox';
import { damageId, damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { MATERIALS, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { pictures } from '../../contracts/vocabulary/file-inputs.ts';
import { jobId } from '../../contracts/vocabulary/job-ids.ts';
import { partName, side } from '../../contracts/vocabulary/part-schemas.ts';
import { countryParameter, hourlyRate, PART_QUALITIES } from '../../contracts/vocabulary/pricing.ts';
import { closed, currency } from '../../contracts/vocabulary/schemas.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicle-schemas.ts';

/** Pictures are optional: they refine what the damages say. */
export const files = pictures(0, 10);

const millimetres = Type.Number({ minimum: 0, maximum: 20_000, description: 'In millimetres.' });

const damage = closed({
  id: Type.Optional({ ...damageId, description: 'Left out: `damage_1`, `damage_2` and so on, by its place.' }),
  type: damageType,
  part: partName,
  side: Type.Optional(side),
  severity: Type.Optional(Type.Enum(SEVERITIES, { description: 'Left out: as is usual of the type.' })),
  repair_method: Type.Optional(Type.Enum(REPAIR_METHODS, { description: 'Left out: the cheapest that is sound.' })),
  material: Type.Optional(Type.Enum(MATERIALS)),
  length_mm: Type.Optional(millimetres),
  width_mm: Type.Optional(millimetres),
});

export const parameters = Type.Object(
  {
    damages: Type.Optional(
      Type.Array(damage, { minItems: 1, maxItems: 100, description: 'The damages to repair, instead of `job_id`.' }),
    ),
    job_id: Type.Optional(
      jobId('A succeeded job of `damage.detect`, `damage.severity` or `inspections`, whose damages are repaired.'),
    ),
    vehicle: Type.Optional({ ...describedVehicle, description: 'Settles hours and prices of parts by its model.' }),
    country: Type.Optional(countryParameter),
    currency: Type.Optional({ ...currency, description: 'ISO 4217. Defaults to that of the country.' }),
    labour_rate: Type.Optional(
      hourlyRate('Of an hour of body work, in the minor unit of `currency`. Defaults to the regional average.'),
    ),
    paint_rate: Type.Optional(
      hourlyRate('Of an hour in the paint shop. Defaults to `labour_rate`, and without one to the regional average.'),
    ),
    part_quality: Type.Optional(
      Type.Enum(PART_QUALITIES, { default: 'original', description: 'Which parts are bought where one is replaced.' }),
    ),
  },
  { additionalProperties: false, examples: [{ job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
