import { Type } from 'typebox';
import { damageId, damageType, MATERIALS, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { jobId } from '../../contracts/vocabulary/jobs.ts';
import { partName, side } from '../../contracts/vocabulary/parts.ts';
import { pictures } from '../../contracts/vocabulary/pictures.ts';
import { includeReport, PRICE_BOOK_PATTERN } from '../../contracts/vocabulary/pricing.ts';
import { PART_QUALITIES, repairPriceParameters } from '../../contracts/vocabulary/repairs.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicles.ts';

/** Pictures are optional: they refine the description of the damages. */
export const files = pictures(0, 10);

const millimetres = Type.Number({ minimum: 0, maximum: 20_000, description: 'In millimetres.' });

const damage = closed({
  id: Type.Optional({ ...damageId, description: 'Defaults to `damage_1`, `damage_2` and so on, by position.' }),
  type: damageType,
  part: partName,
  side: Type.Optional(side),
  severity: Type.Optional(Type.Enum(SEVERITIES, { description: 'Defaults to the usual severity of the type.' })),
  repair_method: Type.Optional(
    Type.Enum(REPAIR_METHODS, {
      description: 'Defaults to the cheapest sound method. Refused if it cannot repair the damage on its part.',
    }),
  ),
  material: Type.Optional(Type.Enum(MATERIALS)),
  length_mm: Type.Optional(millimetres),
  width_mm: Type.Optional(millimetres),
});

export const parameters = Type.Object(
  {
    damages: Type.Optional(
      Type.Array(damage, {
        minItems: 1,
        maxItems: 100,
        description: 'The damages to repair. Alternative to `job_id`.',
      }),
    ),
    job_id: Type.Optional(
      jobId(
        'A succeeded `damage.detect`, `damage.severity` or `inspections` job. Its damages are repaired. A partial inspection ' +
          'is accepted only if all its views were examined.',
      ),
    ),
    vehicle: Type.Optional({ ...describedVehicle, description: 'Determines labour hours and part prices by model.' }),
    ...repairPriceParameters,
    price_book: Type.Optional(
      Type.String({
        pattern: PRICE_BOOK_PATTERN,
        description:
          'The price book of repairs to estimate by, such as `repairs-gb`, or a version of it, such as `repairs-gb@3`, to ' +
          'repeat an estimate. Defaults to the book of `country`. Test mode has none.',
      }),
    ),
    region: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9 -]{0,30}[A-Za-z0-9])?$',
        description:
          'A region of the price book, such as `GB-LND`: its rates apply. Defaults to those of the whole country. Test mode ' +
          'has none.',
      }),
    ),
    include_report: includeReport,
    part_quality: Type.Optional(
      Type.Enum(PART_QUALITIES, {
        default: 'original',
        description:
          'The kind of replacement parts to price. In live mode a part that the book has in no such quality is priced as original.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ job_id: 'job_1CoTsd5kMvWzrNbUoFgrYo' }] },
);

export type Parameters = Type.Static<typeof parameters>;
