import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes the hotspots of a fixture follow the request's parameters. */
export function applyParameters({ hotspots, frames }: Result, parameters: Parameters): Result {
  const { hotspots_job_id, kinds, min_confidence = 0 } = parameters;
  const asked = askedDetections(hotspots, { min_confidence })
    .filter(({ kind }) => !kinds || kinds.includes(kind))
    .map((hotspot) => (hotspots_job_id === undefined ? withoutJob(hotspot) : hotspot));
  const ids = new Set(asked.map(({ id }) => id));
  return {
    hotspots: asked,
    frames: frames
      .map((frame) => ({ ...frame, hotspots: frame.hotspots.filter(({ hotspot_id }) => ids.has(hotspot_id)) }))
      .filter((frame) => frame.hotspots.length > 0),
  };
}

/** Ids of damages are carried through from the job whose hotspots are shown. */
function withoutJob(hotspot: Result['hotspots'][number]): Result['hotspots'][number] {
  return { ...hotspot, damage: hotspot.damage && { ...hotspot.damage, damage_id: null } };
}
