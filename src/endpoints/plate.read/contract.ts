import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const plateRead = {
  slug: 'plate.read',
  title: 'Licence plate reader',
  description:
    'Reads every licence plate on a picture: the text with a confidence for each character, the corners, and the likely ' +
    'country and region of issue. It looks up neither vehicles nor keepers. A picture without a plate returns an empty ' +
    'list, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No plate in the picture: an empty list.',
    low_confidence: 'A plate in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    poor_image_quality: 'A blurred picture with a reflection: an empty list, and `quality_issues` says why.',
    several_plates: 'Three plates, largest first: one with a region, one from an unknown country.',
  },
} as const satisfies EndpointContract;
