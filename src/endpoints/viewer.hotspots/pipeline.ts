/**
 * The frames of a spin set → hotspots per frame: those of a named job, or else what the networks of `render.hotspots` find on the
 * frames.
 */
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { DAMAGE_SEGMENTATION } from '../shared/damage-finder.ts';
import { placeHotspots } from '../shared/place-hotspots.ts';
import { inputOfFrame } from '../shared/spin-set-frames.ts';
import { createSpotsFinder } from '../shared/spot-finder.ts';
import { forViewer } from './apply-parameters.ts';
import { type ResolvedParameters, withReferences } from './references.ts';

export const pipeline: PipelineDefinition = {
  tasks: [DAMAGE_SEGMENTATION],
  create: (model) => {
    const find = createSpotsFinder(model);
    return async ({ pictures, parameters }) => {
      const { placed, ...requested }: ResolvedParameters = parameters;
      return forViewer(placed ?? placeHotspots(await find(pictures, requested.frames), null).hotspots, requested);
    };
  },
  withReferences: async (parameters, readResult) => ({ ...(await withReferences(parameters, readResult)) }),
  furtherInputs: ({ frames = [], placed }: ResolvedParameters) => (placed ? [] : frames.map(inputOfFrame)),
};
