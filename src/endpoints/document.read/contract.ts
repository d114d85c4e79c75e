import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const documentRead = {
  slug: 'document.read',
  title: 'Vehicle document reader',
  description:
    'Reads a vehicle document from one to four pictures: its type and its fields, each as printed text and as a typed ' +
    'value, with confidence and bounding box. It does not verify that a document is genuine. Pictures without a document ' +
    'return null readings, not an error. For driver licences use `driver_license.read`.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No document in the pictures: null readings and no fields.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    invoice: 'A repair invoice on two pages: amounts in minor units, an odometer reading, dates.',
    unreadable_document: 'A document that is visible but unreadable: its type, no fields, and the reasons in `issues`.',
  },
} as const satisfies EndpointContract;
