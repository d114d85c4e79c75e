import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { familiesOfTasks } from '../bundled-tasks.ts';
import { priceOf, VIDEO_CREDITS } from './price.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';
import { stagePlan } from './stages.ts';

export const videoOnboard = {
  slug: 'video.onboard',
  title: 'Video onboarding',
  description:
    'Turns a video of a walk around a vehicle into key frames by viewpoint, says which sides it covers and how well, and ' +
    'runs the endpoints of `run` on the key frames. The video comes as an upload of up to 2 GB. A wanted view that the ' +
    'video does not show makes the job `partial`, and only what is covered is charged; no frame is made up.',
  family: 'understand',
  preview: true,
  ...LONG,
  priceCredits: VIDEO_CREDITS,
  price: ({ parameters: asked }) => priceOf(asked),
  furtherFamilies: ({ parameters: asked }) => familiesOfTasks((asked as Parameters).run ?? []),
  files,
  parameters,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'No vehicle in the video: no key frames, and nothing is covered.',
    low_confidence: 'Key frames and outcomes in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    incomplete_coverage: 'The walk stopped behind the vehicle: its left side is missing, and the job is `partial`.',
  },
} as const satisfies EndpointContract;
