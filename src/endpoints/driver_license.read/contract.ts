import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const driverLicenseRead = {
  slug: 'driver_license.read',
  title: 'Driver licence reader',
  description:
    'Reads a driver licence of the EU, the EEA, the United States or Canada from its front and optionally its back: the ' +
    'holder, the document, the categories, and whether the MRZ or PDF417 is valid and agrees with the printed text. It ' +
    'does not verify that a document is genuine or that the portrait shows its bearer. Pictures without a licence ' +
    'return null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No licence in the pictures: null readings and no categories.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    expired_license: 'An expired licence of a US state. Its PDF417 agrees with the printed text.',
    front_only: 'Only the front was sent: no MRZ, and no dates for the categories.',
    unreadable_document: 'A licence that is visible but unreadable: no values, and the reasons in `issues`.',
  },
} as const satisfies EndpointContract;
