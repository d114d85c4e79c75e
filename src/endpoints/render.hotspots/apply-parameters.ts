import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** The frame of the fixture's spin set that is `example.jpg`. */
const EXAMPLE_FRAME = 7;

/** Makes a fixture answer the request's parameters: its hotspots lie on a spin set, one frame of which is the example. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { job_id, damage_job_id, kinds, parts, min_confidence } = parameters;
  const hotspots = job_id === undefined ? onExample(result.hotspots) : result.hotspots;
  const includesDamages = !kinds || kinds.includes('damage');
  const asked = { ...(parts && { parts }), ...(min_confidence !== undefined && { min_confidence }) };
  return {
    hotspots: askedDetections(hotspots, asked)
      .filter(({ kind }) => !kinds || kinds.includes(kind))
      .map((hotspot) => (damage_job_id === undefined ? withoutJob(hotspot) : hotspot)),
    unplaced_damages: damage_job_id === undefined || !includesDamages ? [] : result.unplaced_damages,
  };
}

function onExample(hotspots: Result['hotspots']): Result['hotspots'] {
  return hotspots
    .map((hotspot) => ({
      ...hotspot,
      placements: hotspot.placements
        .filter(({ frame_index }) => frame_index === EXAMPLE_FRAME)
        .map((placement) => ({ ...placement, frame_index: 0 })),
    }))
    .filter(({ placements }) => placements.length > 0);
}

/** Ids are those of a damage job. */
function withoutJob(hotspot: Result['hotspots'][number]): Result['hotspots'][number] {
  return { ...hotspot, damage: hotspot.damage && { ...hotspot.damage, damage_id: null } };
}
