import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const engineDetect = {
  slug: 'engine.detect',
  title: 'Engine-bay parts',
  description:
    'Finds the parts under an open hood and infers from them whether the propulsion is combustion, electric or hybrid. ' +
    'It does not assess whether parts work or are damaged, and parts it does not list may be hidden. A picture without ' +
    'an engine bay returns null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No engine bay in the picture: null readings and no parts.',
    low_confidence: 'A detection in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    electric: 'An electric vehicle: high-voltage parts and a front trunk.',
    hybrid: 'A hybrid: an engine cover beside an inverter and high-voltage cables.',
  },
} as const satisfies EndpointContract;
