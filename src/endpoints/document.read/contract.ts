import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const documentRead = {
  slug: 'document.read',
  title: 'Vehicle document reader',
  description:
    'Reads a paper that belongs to a vehicle, from one to four pictures of it: its type and its fields, each as printed ' +
    'and as a typed value, with confidence and place. It does not judge whether a document is genuine. Pictures without ' +
    'a document give null readings, not an error. For driver licences see `driver_license.read`.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No document in the pictures: null readings, no fields.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    invoice: 'A repair invoice on two pages: amounts in minor units, an odometer reading, dates.',
    unreadable_document: 'A document that is seen but cannot be read: its type, no fields, and why.',
  },
} as const satisfies EndpointContract;
