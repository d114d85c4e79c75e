import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const driverLicenseRead = {
  slug: 'driver_license.read',
  title: 'Driver licence reader',
  description:
    'Reads a driver licence of the EU, the EEA, the United States or Canada from its front and, where given, its back: ' +
    'the holder, the document, the categories, and whether the MRZ or PDF417 is sound and agrees with what is printed. ' +
    'It does not say whether a document is genuine, nor whether a portrait shows the person who holds it. Pictures ' +
    'without a licence give null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No licence in the pictures: null readings, no categories.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    expired_license: 'A licence of a US state, out of date, with a PDF417 that agrees with the print.',
    front_only: 'Only the front was sent: no MRZ, and categories without dates.',
    unreadable_document: 'A licence that is seen but cannot be read: no values, and why.',
  },
} as const satisfies EndpointContract;
