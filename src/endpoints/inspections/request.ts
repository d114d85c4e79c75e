import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, VIDEO_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { pictures } from '../../contracts/vocabulary/file-inputs.ts';
import { jobId } from '../../contracts/vocabulary/job-ids.ts';
import { countryParameter, hourlyRate } from '../../contracts/vocabulary/pricing.ts';
import { currency } from '../../contracts/vocabulary/schemas.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicle-schemas.ts';
import { VIEWS } from '../../contracts/vocabulary/views.ts';

/** Pictures are sent directly or as uploads, videos as uploads. */
export const files = {
  ...pictures(1, 200),
  mediaTypes: [...IMAGE_MEDIA_TYPES, ...VIDEO_MEDIA_TYPES],
} as const satisfies FileInput;

/** Together they show every side. */
export const DEFAULT_EXPECTED_VIEWS = ['front_left', 'rear_left', 'rear_right', 'front_right'] as const;

export const parameters = Type.Object(
  {
    vehicle: Type.Optional({ ...describedVehicle, description: 'Stands on the report, and settles repair costs.' }),
    expected_views: Type.Optional(
      Type.Array(Type.Enum(VIEWS), {
        minItems: 1,
        maxItems: VIEWS.length,
        uniqueItems: true,
        default: [...DEFAULT_EXPECTED_VIEWS],
        description: 'The views that a complete inspection shows; `missing_views` names those that none does.',
      }),
    ),
    baseline_job_id: Type.Optional(
      jobId('An earlier `inspections` job of the vehicle: `is_new` then says of each damage whether it was there.'),
    ),
    include_repair_estimate: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the repair of the damages is estimated. `false`: null.' }),
    ),
    include_report: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether a report is made, as PDF. `false`: null.' }),
    ),
    country: Type.Optional(countryParameter),
    currency: Type.Optional({ ...currency, description: 'ISO 4217. Defaults to that of the country.' }),
    labour_rate: Type.Optional(
      hourlyRate('Of an hour of body work, in the minor unit of `currency`. Defaults to the regional average.'),
    ),
    paint_rate: Type.Optional(
      hourlyRate('Of an hour in the paint shop. Defaults to `labour_rate`, and without one to the regional average.'),
    ),
  },
  { additionalProperties: false, examples: [{ country: 'DE', include_report: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
