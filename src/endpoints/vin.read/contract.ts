import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const vinRead = {
  slug: 'vin.read',
  title: 'VIN reader',
  description:
    'Reads the seventeen characters of a vehicle identification number with a confidence for each, where on the vehicle ' +
    'it was read, and whether its ISO 3779 check digit agrees. A bar code, Data Matrix or QR code that holds the VIN is ' +
    'compared with the print, or read in its place. It does not decode the number into make or model. A picture without ' +
    'a VIN returns a null reading, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No VIN in the picture: a null reading.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    poor_image_quality: 'A blurred picture with a reflection: a null reading, and `quality_issues` says why.',
    check_digit_mismatch: 'A VIN whose ninth character is not the computed check digit: `check_digit.valid` is false.',
    partially_unreadable:
      'Two characters cannot be read (`?`): the check digit cannot be verified, and `location` is null unless ' +
      '`location_hint` is given.',
  },
} as const satisfies EndpointContract;
