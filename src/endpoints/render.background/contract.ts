import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const renderBackground = {
  slug: 'render.background',
  title: 'Background replacement',
  description:
    'Cuts the vehicle out of a picture and places it in front of a studio scene or a plain colour, with a ground shadow. ' +
    'The vehicle itself is not retouched, and areas outside the picture are not invented. A picture without a vehicle ' +
    'returns null pictures, not an error, and costs nothing. In test mode the composite always shows `studio_white` with ' +
    'a shadow; the fields follow the request.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  refine,
  result,
  scenarios: {
    low_confidence: 'A cut-out with a confidence below 0.5: reflections blur its edges.',
    ...JOB_SCENARIOS,
    no_vehicle: 'No vehicle in the picture: null pictures, and no charge.',
  },
} as const satisfies EndpointContract;

function refine(request: ValidRequest): { param: string; message: string } | null {
  const { scene, background_color } = request.parameters as Parameters;
  if (scene === undefined || background_color === undefined) return null;
  return { param: 'background_color', message: 'Send "scene" or "background_color", not both.' };
}
