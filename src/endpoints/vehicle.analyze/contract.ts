import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { familiesOfTasks, priceOfTasks } from '../shared/bundled-tasks.ts';
import { DEFAULT_TASKS, files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';
import { stagePlan } from './stage-plan.ts';

export const vehicleAnalyze = {
  slug: 'vehicle.analyze',
  aliases: ['vehicle.analyse'],
  title: 'Vehicle analysis bundle',
  description:
    'Runs several endpoints on each of up to 40 pictures of one vehicle and returns every outcome, with a summary across ' +
    'the pictures. The price is the sum of the endpoint prices per picture. A failed outcome is not charged and makes ' +
    'the job `partial`. The bundle adds no reading of its own.',
  family: 'understand',
  preview: true,
  ...LONG,
  priceCredits: priceOfTasks(DEFAULT_TASKS),
  price: ({ parameters: requested, files: sent }) =>
    sent.length * priceOfTasks((requested as Parameters).tasks ?? DEFAULT_TASKS),
  furtherFamilies: ({ parameters: requested }) => familiesOfTasks((requested as Parameters).tasks ?? DEFAULT_TASKS),
  files,
  parameters,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'Every endpoint finds nothing: outcomes with empty lists and null readings.',
    low_confidence: 'Outcomes in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    partial_bundle:
      'The damage detector fails on the first picture and every endpoint on the second: the job is `partial`, and failed ' +
      'outcomes are not charged.',
  },
} as const satisfies EndpointContract;
