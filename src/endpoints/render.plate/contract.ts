import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const renderPlate = {
  slug: 'render.plate',
  title: 'Licence plate anonymiser',
  description:
    'Blurs, masks or replaces every licence plate in a picture and returns their locations, but not their text: use ' +
    '`plate.read`. A picture without a plate comes back with an empty list and no place changed, so the output can always be ' +
    'published: it is encoded anew, without the metadata of the original. In test mode replaced plates have no text and the default colours; the fields follow the request.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  refine,
  result,
  scenarios: {
    low_confidence: 'A plate with a confidence below 0.5. It is still anonymised.',
    ...JOB_SCENARIOS,
    no_plate: 'No plate in the picture: the picture without a change and an empty list.',
  },
} as const satisfies EndpointContract;

function refine(request: ValidRequest): { param: string; message: string } | null {
  const { mode, replacement_text, fill_color } = request.parameters as Parameters;
  if (replacement_text !== undefined && mode !== 'replace') {
    return { param: 'replacement_text', message: '"replacement_text" requires "mode" "replace".' };
  }
  if (fill_color !== undefined && mode !== 'mask' && mode !== 'replace') {
    return { param: 'fill_color', message: '"fill_color" requires "mode" "mask" or "replace".' };
  }
  return null;
}
