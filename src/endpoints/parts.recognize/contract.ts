import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsRecognize = {
  slug: 'parts.recognize',
  title: 'Part recognizer',
  description:
    'Names the exterior parts that a picture shows, from a closed list, each with its side, where it lies and what ' +
    'else it may be, and says what the picture is mainly about. It works on vehicles and on loose parts; it does ' +
    'not tell part numbers.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: empty lists, nulls.',
    low_confidence: 'Parts in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    loose_part: 'A mirror that is not on a vehicle.',
    side_unclear: 'A close-up that does not tell left from right: `side` is null unless `view_hint` settles it.',
  },
} as const satisfies EndpointContract;
