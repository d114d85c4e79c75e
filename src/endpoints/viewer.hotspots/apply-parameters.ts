import type { Result as Placed } from '../render.hotspots/result.ts';
import { requestedDetections } from '../shared/requested-detections.ts';
import { onFrames } from '../shared/spin-set-frames.ts';
import type { ResolvedParameters } from './references.ts';
import type { Result } from './result.ts';

type PlacedHotspot = Placed['hotspots'][number];

/** Applies the request to a fixture: the hotspots of the named job, or else those of the fixture on the named frames. */
export function applyParameters(fixture: Result, parameters: ResolvedParameters): Result {
  const { hotspots_job_id, frames, placed } = parameters;
  const shownKinds = new Set(fixture.hotspots.map(({ kind }) => kind));
  const hotspots = placed?.filter(({ kind }) => shownKinds.has(kind)) ?? placedOnExample(fixture);
  return forViewer(
    hotspots
      .map((hotspot) => (hotspots_job_id === undefined ? withoutDamageId(hotspot) : hotspot))
      .map((hotspot) => ({
        ...hotspot,
        // The named job already refers to the frames of the spin set.
        placements: frames && !placed ? onFrames(hotspot.placements, frames) : hotspot.placements,
      })),
    parameters,
  );
}

/** The requested hotspots, once each and per frame of the spin set. Live mode and test mode share it. */
export function forViewer(
  hotspots: readonly PlacedHotspot[],
  { kinds, min_confidence = 0, frames }: Pick<ResolvedParameters, 'kinds' | 'min_confidence' | 'frames'>,
): Result {
  return byFrame(
    requestedDetections(hotspots, { min_confidence })
      .filter(({ kind }) => !kinds || kinds.includes(kind))
      .map((hotspot) => ({ ...hotspot, placements: withinSet(hotspot.placements, frames) })),
  );
}

/** A hotspots job may refer to a longer spin set. */
function withinSet(placements: PlacedHotspot['placements'], frames: ResolvedParameters['frames']) {
  return frames ? placements.filter(({ frame_index }) => frame_index < frames.length) : placements;
}

function placedOnExample({ hotspots, frames }: Result): PlacedHotspot[] {
  return hotspots.map(({ best_frame_index: _best, ...hotspot }) => ({
    ...hotspot,
    placements: frames.flatMap(({ frame_index, hotspots: shown }) =>
      shown
        .filter(({ hotspot_id }) => hotspot_id === hotspot.id)
        .map(({ hotspot_id: _hotspot, ...position }) => ({ frame_index, ...position })),
    ),
  }));
}

/** Lists each hotspot once, and its position on every frame that shows it. Hotspots on no frame are omitted. */
function byFrame(placed: readonly PlacedHotspot[]): Result {
  const shown = placed.filter(({ placements }) => placements.length > 0);
  const indexes = new Set(shown.flatMap(({ placements }) => placements.map(({ frame_index }) => frame_index)));
  return {
    hotspots: shown.map(({ placements, ...hotspot }) => {
      const [best] = placements.toSorted((a, b) => b.prominence - a.prominence);
      return { ...hotspot, best_frame_index: best?.frame_index ?? 0 };
    }),
    frames: [...indexes]
      .toSorted((a, b) => a - b)
      .map((frame_index) => ({
        frame_index,
        hotspots: shown
          .flatMap(({ id, placements }) =>
            placements
              .filter((placement) => placement.frame_index === frame_index)
              .map(({ frame_index: _index, ...position }) => ({ hotspot_id: id, ...position })),
          )
          .toSorted((a, b) => b.prominence - a.prominence),
      })),
  };
}

/** Damage ids refer to the hotspots job. */
function withoutDamageId(hotspot: PlacedHotspot): PlacedHotspot {
  return { ...hotspot, damage: hotspot.damage && { ...hotspot.damage, damage_id: null } };
}
