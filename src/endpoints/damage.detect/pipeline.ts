/**
 * Picture → damages with outlines and the parts that were examined. A model without `uses.parts` does not know the part of a
 * damage, its size or the parts that it examined: those fields stay null, and `parts_seen` empty.
 */
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import {
  createDamageFinder,
  DAMAGE_SEGMENTATION,
  type FoundDamage,
  type SeenDamages,
} from '../shared/damage-finder.ts';
import type { Place } from '../shared/damage-places.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: [DAMAGE_SEGMENTATION],
  create: (model) => {
    const find = createDamageFinder(model);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      const seen = await find(await onlyPicture(pictures));
      const damages: Result['damages'] = [];
      for (const found of seen.damages) damages.push(await toDamage(found, seen, `damage_${damages.length + 1}`));
      const parts = seen.parts.toSorted((a, b) => b.confidence - a.confidence);
      const result: Result = {
        ...seen.assessment,
        parts_seen: parts.map(({ part, side, confidence }) => ({ part, side, confidence })),
        damages,
      };
      return applyParameters(result, requested);
    };
  },
};

async function toDamage(found: FoundDamage, seen: SeenDamages, id: string): Promise<Result['damages'][number]> {
  const { label, confidence, box, outline } = found;
  const place = seen.placeOf?.(outline) ?? null;
  return {
    id,
    type: label,
    part: place?.part ?? null,
    side: place?.side ?? null,
    confidence,
    bbox: toBoundingBox(box),
    polygon: toPolygon(outline),
    size: await sizeOf(outline, place, seen),
  };
}

/** Null where neither a scale nor a part is known. */
async function sizeOf(outline: FoundDamage['outline'], place: Place | null, { sizeOf: measure }: SeenDamages) {
  const measured = await measure(outline);
  if (!measured && (place?.partShare ?? null) === null) return null;
  return {
    length_mm: measured?.lengthMm ?? null,
    width_mm: measured?.widthMm ?? null,
    part_area_fraction: place?.partShare ?? null,
    confidence: measured?.confidence ?? place?.confidence ?? 0,
  };
}
