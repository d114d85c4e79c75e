import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const damageDetect = {
  slug: 'damage.detect',
  title: 'Damage detector',
  description:
    'Finds damages on a picture of a vehicle: their type, part, location and approximate size. It also lists the parts ' +
    'that were examined. To grade damages use `damage.severity`, to price them `pricing.repair`. The result covers only ' +
    'what the picture shows.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the picture: empty lists and a null view.',
    low_confidence: 'Damages in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    heavy_damage: 'A front after a collision: five damages, one of them on an unidentified part.',
    undamaged: 'A vehicle in good order: `parts_seen` lists what was examined, `damages` is empty.',
    poor_image_quality: 'A dark, blurred picture: no damages, and `quality_issues` says why.',
  },
} as const satisfies EndpointContract;
