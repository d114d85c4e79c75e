import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { familiesOfTasks, priceOfTasks } from '../bundled-tasks.ts';
import { DEFAULT_TASKS, files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';
import { stagePlan } from './stages.ts';

export const vehicleAnalyze = {
  slug: 'vehicle.analyze',
  aliases: ['vehicle.analyse'],
  title: 'Vehicle analysis bundle',
  description:
    'Runs several endpoints on each of up to 40 pictures of one vehicle and answers every outcome, and a summary of what ' +
    'the pictures say together. It costs what the endpoints cost on the pictures; an outcome that failed is not charged, ' +
    'and makes the job `partial`. It adds no reading of its own.',
  family: 'understand',
  preview: true,
  ...LONG,
  priceCredits: priceOfTasks(DEFAULT_TASKS),
  price: ({ parameters: asked, files: sent }) =>
    sent.length * priceOfTasks((asked as Parameters).tasks ?? DEFAULT_TASKS),
  furtherFamilies: ({ parameters: asked }) => familiesOfTasks((asked as Parameters).tasks ?? DEFAULT_TASKS),
  files,
  parameters,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'Every endpoint finds nothing: outcomes with empty lists and null readings.',
    low_confidence: 'Outcomes in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    partial_bundle:
      'The damage detector fails on the first picture and every endpoint on the second: the job is `partial`, and what ' +
      'failed is not charged.',
  },
} as const satisfies EndpointContract;
