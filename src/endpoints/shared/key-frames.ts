/** Live mode: finds the key frames of a walk-around video with the single-step endpoints. */

import { artefactKey } from '../../artefacts/artefact-resource.ts';
import type { JobInput } from '../../contracts/job.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { type BundleTools, type InferOne, resultOf } from '../../inference/bundles/bundle-definition.ts';
import type { TakenFrame } from '../../inference/video/messages.ts';
import type { Result as Pose } from '../vehicle.pose/result.ts';
import type { Result as Segments } from '../vehicle.segment/result.ts';
import { videoOnboard } from '../video.onboard/contract.ts';
import type { Result } from '../video.onboard/result.ts';
import {
  type Candidate,
  type CompassView,
  passagesOf,
  type Sighting,
  seenMs,
  walkOf,
  withCandidate,
} from './walk-around.ts';

type KeyFrame = Omit<Result['key_frames'][number], 'outcomes'>;

/** The fields of a `video.onboard` result that describe the video itself. */
export type Watched = Omit<Result, 'key_frames' | 'summary' | 'charged_credits'> & { key_frames: KeyFrame[] };

/** The single-step endpoints that watching a video needs. */
export const WATCHING = ['vehicle.pose', 'vehicle.segment'] as const;

interface Found extends Candidate {
  frame: TakenFrame;
  confidence: number;
  bbox: KeyFrame['vehicle_bbox'];
  issues: KeyFrame['quality_issues'];
}

export interface Wanted {
  views: readonly CompassView[];
  framesPerView: number;
}

/**
 * Watches a video and keeps, per view, the frames with the highest confidence × sharpness. Frames without a vehicle are
 * never kept. Memory holds only the requested number of frames, whatever the length of the video.
 */
export function findKeyFrames(input: JobInput, wanted: Wanted, infer: InferOne, tools: BundleTools): Promise<Watched> {
  return tools.watchVideo(input, async ({ facts, frames }) => {
    const { durationMs, width, height, framesPerSecond, frameDistanceMs } = facts;
    const sightings: Sighting[] = [];
    const best = new Map<CompassView, Found[]>();
    for await (const frame of frames) {
      const { timeOffsetMs, jpeg } = frame;
      tools.onProgress(Math.min(1, timeOffsetMs / durationMs));
      await tools.withPicture(jpeg, async (picture) => {
        const pose = await resultOf<Pose>(infer, 'vehicle.pose', picture);
        const view = compassView(pose);
        // Most models say with the view where the vehicle is; outlining it would cost many times as much.
        const vehicle = view && (pose.vehicle ?? (await mainVehicle(picture)));
        sightings.push({ timeOffsetMs, view: vehicle ? view : null, issues: pose.quality_issues });
        if (!view || !vehicle) return;
        const found = {
          view: view.value,
          timeOffsetMs,
          score: view.confidence * frame.sharpness,
          frame,
          confidence: view.confidence,
          bbox: vehicle.bbox,
          issues: pose.quality_issues,
        };
        const most = wanted.views.includes(view.value) ? wanted.framesPerView : 1;
        best.set(view.value, withCandidate(best.get(view.value) ?? [], found, most));
      });
    }

    const chosen = wanted.views
      .flatMap((view) => best.get(view) ?? [])
      .toSorted((a, b) => a.timeOffsetMs - b.timeOffsetMs);
    const key_frames: KeyFrame[] = [];
    for (const found of chosen) key_frames.push(await toKeyFrame(found, key_frames.length, tools));
    return {
      video: { duration_ms: durationMs, width, height, frames_per_second: framesPerSecond },
      walk: walkOf(sightings),
      key_frames,
      coverage: coverageOf(wanted, best, seenMs(sightings, frameDistanceMs)),
      quality_issues: passagesOf(sightings, { frameDistanceMs, durationMs }),
    };
  });

  async function mainVehicle(picture: JobInput): Promise<Segments['vehicles'][number] | undefined> {
    const { vehicles } = await resultOf<Segments>(infer, 'vehicle.segment', picture, { include_matte: false });
    return vehicles.find(({ is_main }) => is_main);
  }
}

function compassView({ view }: Pose): Sighting['view'] {
  const value = COMPASS_VIEWS.find((name) => name === view?.value);
  return value && view ? { value, confidence: view.confidence } : null;
}

async function toKeyFrame(found: Found, index: number, { writeArtefact }: BundleTools): Promise<KeyFrame> {
  const { view, confidence, timeOffsetMs, bbox, issues } = found;
  const { jpeg: content, width, height } = found.frame;
  const mediaType = ARTEFACT_MEDIA_TYPES.jpg ?? '';
  return {
    index,
    view,
    confidence,
    time_offset_ms: timeOffsetMs,
    image: await writeArtefact({ content, mediaType, extension: 'jpg', width, height }),
    vehicle_bbox: bbox,
    quality_issues: [...issues],
  };
}

function coverageOf(
  { views: wanted }: Wanted,
  best: ReadonlyMap<CompassView, readonly Found[]>,
  seen: Record<CompassView, number>,
): Result['coverage'] {
  const views = Object.fromEntries(
    COMPASS_VIEWS.map((name) => [
      name,
      {
        is_covered: best.has(name),
        seen_ms: seen[name],
        key_frames: wanted.includes(name) ? (best.get(name)?.length ?? 0) : 0,
      },
    ]),
  ) as Result['coverage']['views'];
  const missing = COMPASS_VIEWS.filter((view) => wanted.includes(view) && !best.has(view));
  return { fraction: 1 - missing.length / wanted.length, missing_views: missing, views };
}

/** Credits for the key frames: the price of the video times the covered fraction of the requested views. */
export function chargeOfVideo({ fraction }: Pick<Result['coverage'], 'fraction'>): number {
  return Math.round(videoOnboard.priceCredits * fraction);
}

/** A key frame as the input file of an endpoint. */
export function inputOfFrame({ id, bytes }: KeyFrame['image']): JobInput {
  return {
    field: 'frame',
    storageKey: artefactKey(`${id}.jpg`),
    mediaType: ARTEFACT_MEDIA_TYPES.jpg ?? '',
    bytes,
    sha256: '',
    uploadId: null,
  };
}
