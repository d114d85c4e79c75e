import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const renderPlate = {
  slug: 'render.plate',
  title: 'Licence plate anonymiser',
  description:
    'Blurs, masks or replaces every licence plate in a picture and says where they are. It does not read them: see ' +
    '`plate.read`. A picture without a plate comes back as it is with an empty list, so that the answer can be published ' +
    'either way. In test mode a replaced plate is without text and the colours are the defaults, whatever is asked for; ' +
    'the fields follow the request.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  refine,
  result,
  scenarios: {
    low_confidence: 'A plate whose confidence is below 0.5. It is treated all the same.',
    ...JOB_SCENARIOS,
    no_plate: 'No plate in the picture: the same picture and an empty list.',
  },
} as const satisfies EndpointContract;

function refine(request: ValidRequest): { param: string; message: string } | null {
  const { mode, replacement_text, fill_color } = request.parameters as Parameters;
  if (replacement_text !== undefined && mode !== 'replace') {
    return { param: 'replacement_text', message: '"replacement_text" goes with "mode" "replace" only.' };
  }
  if (fill_color !== undefined && mode !== 'mask' && mode !== 'replace') {
    return { param: 'fill_color', message: '"fill_color" goes with "mode" "mask" or "replace" only.' };
  }
  return null;
}
