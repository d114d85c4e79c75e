import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsRecognize = {
  slug: 'parts.recognize',
  title: 'Part recognizer',
  description:
    'Recognises the exterior parts on a picture, from a closed list: each with its side, location and alternatives, and ' +
    'the main subject of the picture. It works on vehicles and on loose parts. It does not return part numbers.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: empty lists and null readings.',
    low_confidence: 'Parts in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    loose_part: 'A mirror that is not mounted on a vehicle.',
    side_unclear: 'A close-up without left or right: `side` is null unless `view_hint` resolves it.',
  },
} as const satisfies EndpointContract;
