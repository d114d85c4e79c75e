/** The frames of a spin set, and where the hotspots of the example spin set are on those of another one. Pure. */
import { type Artefact, artefactKey } from '../../artefacts/artefact-resource.ts';
import type { JobInput } from '../../contracts/job.ts';
import { EXAMPLE_AZIMUTHS } from './spin-set-positions.ts';

/** A frame of a spin set, in the order of its `frames`. */
export interface SpinFrame {
  azimuth_degrees: number;
}

/** As the result of `render.360` has it. */
export interface StoredFrame extends SpinFrame {
  image: Artefact;
}

/** A frame's picture as the input of an endpoint. The name of its file is the end of its link. */
export function inputOfFrame({ image: { url, media_type: mediaType, bytes } }: StoredFrame): JobInput {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return { field: 'job_id', storageKey: artefactKey(name), mediaType, bytes, sha256: '', uploadId: null };
}

/** A frame shows what the example frame shows if its camera is at most this far away. */
const TOLERANCE_DEGREES = 23;

/** Moves placements to the nearest frame of the spin set. Placements without a near frame are omitted. */
export function onFrames<Placement extends { frame_index: number }>(
  placements: readonly Placement[],
  frames: readonly SpinFrame[],
): Placement[] {
  return placements
    .flatMap((placement) => {
      const azimuth = EXAMPLE_AZIMUTHS[placement.frame_index];
      if (azimuth === undefined) return [];
      const [nearest] = frames
        .map((frame, index) => ({ index, distance: degreesBetween(frame.azimuth_degrees, azimuth) }))
        .toSorted((a, b) => a.distance - b.distance);
      return nearest && nearest.distance <= TOLERANCE_DEGREES ? { ...placement, frame_index: nearest.index } : [];
    })
    .toSorted((a, b) => a.frame_index - b.frame_index);
}

export function degreesBetween(a: number, b: number): number {
  const difference = Math.abs(a - b) % 360;
  return Math.min(difference, 360 - difference);
}
