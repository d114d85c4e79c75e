import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const dashboardRead = {
  slug: 'dashboard.read',
  title: 'Dashboard and mileage reader',
  description:
    'Reads an instrument cluster: the odometer and its unit, the lit warning lights, the fuel level, and whether the ' +
    'cluster is switched on. What is not certain is null. A picture without an instrument cluster returns null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No instrument cluster in the picture: null readings, no warning lights.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    poor_image_quality: 'A blurred picture with a reflection: no odometer, and `quality_issues` says why.',
    cluster_off: 'A digital cluster that is switched off: `cluster_lit` is false and there are no readings.',
    unit_unknown: 'An odometer that shows no unit: `unit` is null unless `unit_hint` is given.',
  },
} as const satisfies EndpointContract;
