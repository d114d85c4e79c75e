import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const damageDetect = {
  slug: 'damage.detect',
  title: 'Damage detector',
  description:
    'Finds the damages that a picture of a vehicle shows: what each is, on which part, where and about how large, ' +
    'and which parts were examined at all. It does not grade or price them (see `damage.severity` and ' +
    '`pricing.repair`), and says nothing of what the picture does not show.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the picture: empty lists, no view.',
    low_confidence: 'Damages in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    heavy_damage: 'A front after a collision: five damages, one of them on a part that cannot be told.',
    undamaged: 'A vehicle in good order: `parts_seen` says what was examined, `damages` is empty.',
    poor_image_quality: 'A dark, blurred picture: nothing found, and `quality_issues` says why.',
  },
} as const satisfies EndpointContract;
