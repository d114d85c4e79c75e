import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { familiesOfTasks } from '../shared/bundled-tasks.ts';
import { priceOf, VIDEO_CREDITS } from './price.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';
import { stagePlan } from './stage-plan.ts';

export const videoOnboard = {
  slug: 'video.onboard',
  title: 'Video onboarding',
  description:
    'Extracts key frames by viewpoint from a walk-around video, reports which sides it covers and how well, and runs the ' +
    'endpoints of `run` on the key frames. Send the video as an upload of up to 2 GB. A requested view that the video ' +
    'does not show makes the job `partial`, and only covered views are charged. No frame is invented.',
  family: 'understand',
  preview: true,
  ...LONG,
  priceCredits: VIDEO_CREDITS,
  price: ({ parameters: requested }) => priceOf(requested),
  furtherFamilies: ({ parameters: requested }) => familiesOfTasks((requested as Parameters).run ?? []),
  files,
  parameters,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'No vehicle in the video: no key frames and no coverage.',
    low_confidence: 'Key frames and outcomes in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    incomplete_coverage: 'The walk stops behind the vehicle: its left side is missing, and the job is `partial`.',
  },
} as const satisfies EndpointContract;
