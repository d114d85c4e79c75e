/** Picture and damages → grades by the rules, with a model that outlines damages. */
import type { Model } from '../../inference/models/model.ts';
import { fromBoundingBox, overlapCoefficient, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround, quadOfBox } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { onlyPicture, type RunnablePipeline } from '../../inference/toolkit/pipeline.ts';
import { createDamageFinder, type FoundDamage, LEAST_ON_VEHICLE, type SeenDamages } from '../shared/damage-finder.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import { gradeOf, overallOf } from './severity-rules.ts';

type Requested = NonNullable<Parameters['damages']>[number];
type Graded = Result['damages'][number];

/** Share of the smaller of two boxes above which a requested damage without a type is one that was found. */
const SAME_PLACE = 0.5;
/** How sure the type of a requested damage is that states no confidence. */
const STATED = 0.9;

export function createRuleGrader(model: Model, worstFirst: (damages: readonly Graded[]) => Graded[]): RunnablePipeline {
  const find = createDamageFinder(model);
  return async ({ pictures, parameters }): Promise<Result> => {
    const { damages: requested }: Parameters = parameters;
    const seen = await find(await onlyPicture(pictures));
    const damages: Graded[] = [];
    for (const damage of requested ?? seen.damages.map(toRequested)) {
      const graded = await grade(damage, seen, `damage_${damages.length + 1}`);
      if (graded) damages.push(graded);
    }
    return {
      overall: overallOf(damages),
      damages: requested ? damages : worstFirst(damages),
      quality_issues: seen.assessment.quality_issues,
    };
  };
}

function toRequested({ label, confidence, box, outline }: FoundDamage): Requested {
  return { type: label, confidence, bbox: toBoundingBox(box), polygon: outline };
}

/** Null if the damage is not visible: no vehicle is there, or it has no type and none was found there. */
async function grade(damage: Requested, seen: SeenDamages, id: string): Promise<Graded | null> {
  const outline: readonly Point[] = damage.polygon ?? quadOfBox(fromBoundingBox(damage.bbox));
  const place = seen.placeOf?.(outline) ?? null;
  if (!seen.showsVehicle || (place && place.onVehicle < LEAST_ON_VEHICLE)) return null;
  const said = typeOf(damage, seen);
  if (!said) return null;
  const part = damage.part ?? place?.part ?? null;
  const lengthMm = damage.size?.length_mm ?? (await seen.sizeOf(outline))?.lengthMm ?? null;
  const partShare = damage.size?.part_area_fraction ?? (part === place?.part ? (place?.partShare ?? null) : null);
  const extent = { lengthMm, partShare, vehicleShare: place?.vehicleShare ?? null };
  return {
    id: damage.id ?? id,
    type: said.type,
    part,
    side: (damage.part ?? null) === null ? (damage.side ?? place?.side ?? null) : (damage.side ?? null),
    bbox: damage.bbox,
    ...gradeOf({ ...said, part, extent }),
  };
}

/** The stated type, or that of the damage found in the same place. */
function typeOf(damage: Requested, { damages }: SeenDamages): { type: Graded['type']; confidence: number } | null {
  if (damage.type !== undefined) return { type: damage.type, confidence: damage.confidence ?? STATED };
  const found = damages.find(
    ({ outline }) => overlapCoefficient(fromBoundingBox(damage.bbox), boxAround(outline)) >= SAME_PLACE,
  );
  return found ? { type: found.label, confidence: found.confidence } : null;
}
