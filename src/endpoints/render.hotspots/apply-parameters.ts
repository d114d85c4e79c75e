import type { FoundDamage } from '../shared/found-damages.ts';
import { labelOf } from '../shared/place-hotspots.ts';
import { requestedDetections } from '../shared/requested-detections.ts';
import { onFrames } from '../shared/spin-set-frames.ts';
import { positionsOf } from '../shared/spin-set-positions.ts';
import type { ResolvedParameters } from './references.ts';
import type { Result } from './result.ts';

type Hotspot = Result['hotspots'][number];
type Placement = Hotspot['placements'][number];

/** The frame of the example spin set that is `example.jpg`. */
const EXAMPLE_FRAME = 7;

type Move = (placements: readonly Placement[]) => Placement[];

/** Applies the request to a fixture, whose hotspots are on the example spin set; one of its frames is the example picture. */
export function applyParameters(fixture: Result, parameters: ResolvedParameters): Result {
  const { job_id, damage_job_id, frames, foundDamages } = parameters;
  const move: Move = (placements) => {
    if (job_id === undefined) return onExample(placements);
    return frames ? onFrames(placements, frames) : [...placements];
  };
  const onTarget = fixture.hotspots
    .map((hotspot) => ({ ...hotspot, placements: move(hotspot.placements) }))
    .filter(({ placements }) => placements.length > 0);
  const isEmpty = fixture.hotspots.length === 0;
  const { hotspots, unplaced_damages } =
    foundDamages && !isEmpty
      ? withDamages(onTarget, placeDamages(foundDamages, fixture, move))
      : { ...fixture, hotspots: onTarget };
  const isNamed = damage_job_id !== undefined;
  return requestedHotspots(
    {
      hotspots: isNamed ? hotspots : hotspots.map(withoutDamageId),
      unplaced_damages: isNamed ? unplaced_damages : [],
    },
    parameters,
  );
}

/** Keeps the hotspots of the requested kinds and parts that are sure enough. Live mode and test mode share it. */
export function requestedHotspots(
  { hotspots, unplaced_damages }: Result,
  { kinds, parts, min_confidence }: Pick<ResolvedParameters, 'kinds' | 'parts' | 'min_confidence'>,
): Result {
  const filter = { ...(parts && { parts }), ...(min_confidence !== undefined && { min_confidence }) };
  return {
    hotspots: requestedDetections(hotspots, filter).filter(({ kind }) => !kinds || kinds.includes(kind)),
    unplaced_damages: !kinds || kinds.includes('damage') ? unplaced_damages : [],
  };
}

interface PlacedDamages {
  placed: Omit<Hotspot, 'id'>[];
  unplaced: Result['unplaced_damages'];
}

/** Places each damage where its part is, as confidently as the fixture's. A fixture without damages shows none of them. */
function placeDamages(found: readonly FoundDamage[], { hotspots }: Result, move: Move): PlacedDamages {
  const samples = hotspots.filter(({ kind }) => kind === 'damage');
  const result: PlacedDamages = { placed: [], unplaced: [] };
  for (const [index, { id, type, part, side, severity }] of found.entries()) {
    const sample = samples[index % samples.length];
    const placements = part === null ? [] : move(positionsOf(part, side));
    if (sample && placements.length > 0) {
      const damage = { damage_id: id, type, severity };
      const label = labelOf({ type, part, side });
      result.placed.push({ kind: 'damage', label, part, side, damage, confidence: sample.confidence, placements });
      continue;
    }
    const isHidden = part !== null && placements.length === 0;
    result.unplaced.push({ damage_id: id, type, part, side, reason: isHidden ? 'not_shown' : 'not_found' });
  }
  return result;
}

/** Replaces the damages among the hotspots, and renumbers all. */
function withDamages(hotspots: Result['hotspots'], { placed, unplaced }: PlacedDamages): Result {
  const ofParts = hotspots.filter(({ kind }) => kind === 'part');
  const all = [...placed.toSorted((a, b) => b.confidence - a.confidence), ...ofParts];
  return {
    hotspots: all.map((hotspot, index) => ({ ...hotspot, id: `hotspot_${index + 1}` })),
    unplaced_damages: unplaced,
  };
}

function onExample(placements: readonly Placement[]): Placement[] {
  return placements
    .filter(({ frame_index }) => frame_index === EXAMPLE_FRAME)
    .map((placement) => ({ ...placement, frame_index: 0 }));
}

/** Damage ids refer to a damage job. */
function withoutDamageId(hotspot: Hotspot): Hotspot {
  return { ...hotspot, damage: hotspot.damage && { ...hotspot.damage, damage_id: null } };
}
