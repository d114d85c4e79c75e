/**
 * Picture, or the frames of a spin set → hotspots on the damages, parts and plates that the networks find there, or on the damages
 * of a named job. A model of `damage.detect` without `uses.parts` finds damages only.
 */
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { DAMAGE_SEGMENTATION } from '../shared/damage-finder.ts';
import { type NamedDamage, placeHotspots } from '../shared/place-hotspots.ts';
import { inputOfFrame } from '../shared/spin-set-frames.ts';
import { createSpotsFinder, type SeenPicture, share } from '../shared/spot-finder.ts';
import { requestedHotspots } from './apply-parameters.ts';
import { type ResolvedParameters, withReferences } from './references.ts';

export const pipeline: PipelineDefinition = {
  tasks: [DAMAGE_SEGMENTATION],
  create: (model) => {
    const find = createSpotsFinder(model);
    return async ({ pictures, parameters }) => {
      const requested: ResolvedParameters = parameters;
      const seen = await find(pictures, requested.frames);
      return requestedHotspots(placeHotspots(seen, namedDamages(requested, seen)), requested);
    };
  },
  withReferences: async (parameters, readResult) => ({ ...(await withReferences(parameters, readResult)) }),
  furtherInputs: ({ frames = [] }: ResolvedParameters) => frames.map(inputOfFrame),
};

function namedDamages(
  { foundDamages, damageBoxes, frames }: ResolvedParameters,
  [first]: readonly SeenPicture[],
): NamedDamage[] | null {
  if (!foundDamages) return null;
  return foundDamages.map((damage) => {
    const box = frames ? undefined : damageBoxes?.[damage.id];
    if (!box || !first) return { ...damage, at: null };
    const { width, height } = first.size;
    return { ...damage, at: { x: share(box.x + box.width / 2, width), y: share(box.y + box.height / 2, height) } };
  });
}
