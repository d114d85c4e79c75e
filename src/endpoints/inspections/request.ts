import { Type } from 'typebox';
import { jobId } from '../../contracts/vocabulary/jobs.ts';
import { VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { repairPriceParameters } from '../../contracts/vocabulary/repairs.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicles.ts';
import { picturesOrVideo } from '../../contracts/vocabulary/videos.ts';

/** Pictures are sent directly or as uploads, videos as uploads. */
export const files = picturesOrVideo(200);

/** Together these views show every side. */
export const DEFAULT_EXPECTED_VIEWS = ['front_left', 'rear_left', 'rear_right', 'front_right'] as const;

export const parameters = Type.Object(
  {
    vehicle: Type.Optional({
      ...describedVehicle,
      description: 'Printed on the report. Also determines labour hours and part prices.',
    }),
    expected_views: Type.Optional(
      Type.Array(Type.Enum(VIEWS), {
        minItems: 1,
        maxItems: VIEWS.length,
        uniqueItems: true,
        default: [...DEFAULT_EXPECTED_VIEWS],
        description:
          'The views that a complete inspection needs. `missing_views` lists those that no usable picture shows.',
      }),
    ),
    baseline_job_id: Type.Optional(
      jobId(
        'An earlier `inspections` job of the same vehicle, succeeded or partial with all its views examined. `is_new` then ' +
          'states for each damage whether it is new since.',
      ),
    ),
    include_repair_estimate: Type.Optional(
      Type.Boolean({
        description:
          'Whether to estimate the repair costs. With `false`, `repair_estimate` is null. With `true`, a live job that no ' +
          'price book can estimate is `partial`; without this parameter the estimate is then left out, and the job can ' +
          'succeed. Amounts that the request sends, such as `labour_rate`, count as `true`.',
      }),
    ),
    include_report: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to produce a PDF report. With `false`, `report` is null.' }),
    ),
    ...repairPriceParameters,
  },
  { additionalProperties: false, examples: [{ country: 'DE', include_report: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
