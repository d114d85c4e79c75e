import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const viewerHotspots = {
  slug: 'viewer.hotspots',
  title: 'Hotspots for a viewer',
  description:
    'Returns the hotspots of a spin set as a viewer needs them while it turns: each hotspot once, and its position on ' +
    'every frame that shows it. Positions are normalised to 0–1 of the width and height. The endpoint takes no files: ' +
    'the pictures are those of a `render.360` job.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  jobReferences: [
    { parameter: 'job_id', endpoints: ['render.360'] },
    { parameter: 'hotspots_job_id', endpoints: ['render.hotspots'] },
  ],
  result,
  scenarios: {
    empty_result: 'No damage and no part visible: empty lists.',
    low_confidence: 'Hotspots in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    undamaged: 'A vehicle in good order: hotspots on parts only.',
  },
} as const satisfies EndpointContract;
