import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const vehiclePose = {
  slug: 'vehicle.pose',
  title: 'Viewpoint and capture quality',
  description:
    'Determines the viewpoint of a picture (one of eight compass views, an interior or a detail), the camera angles, the ' +
    'framing of the vehicle and defects of the picture. It assesses the capture, not the condition of the vehicle. A ' +
    'picture without a vehicle returns null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the picture: null readings and no quality issues.',
    low_confidence: 'A view in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    interior_view: 'The interior of a vehicle: a view without camera angles.',
    poor_capture: 'A cropped vehicle on a dark, blurred picture: the framing and three quality issues.',
  },
} as const satisfies EndpointContract;
