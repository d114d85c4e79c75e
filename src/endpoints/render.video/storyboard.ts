/** Which picture a film shows when. Pure. */
import type { Picture } from '../../inference/toolkit/pipeline.ts';
import { gapsOf } from '../shared/frames/choose-frames.ts';
import { degreesBetween } from '../shared/spin-set-frames.ts';
import type { Result } from './result.ts';

export const FRAMES_PER_SECOND = 30;

/** Longest time from one picture to the next. */
const LONGEST_STEP_FRAMES = 45;
/** Part of that time during which a picture cross-fades into the next. */
const FADE_SHARE = 1 / 3;
/** Pictures of a walk need time to be looked at; frames of a video move. */
const SHORTEST_STEP_SECONDS = 0.4;
/** A side that was not photographed: the film begins behind it and ends before it. */
const GAP_DEGREES = 90;
/** Where a film of the whole circle begins: most listings show this view first. */
const FRONT_LEFT_DEGREES = 315;

export interface Timing {
  framesPerSecond: number;
  stepFrames: number;
  fadeFrames: number;
  /** Of the whole film. */
  frames: number;
}

/** How many of these a film of at most `longestSeconds` shows. */
export function mostPictures(pictures: readonly Picture[], longestSeconds: number): number {
  const isVideo = pictures.some(({ timeOffsetMs }) => timeOffsetMs !== undefined);
  return isVideo ? pictures.length : Math.floor(longestSeconds / SHORTEST_STEP_SECONDS);
}

/** Every picture for the same time, and the last for a fade longer. */
export function timingOf(pictures: number, longestSeconds: number): Timing {
  const fitting = Math.floor((longestSeconds * FRAMES_PER_SECOND) / (pictures + FADE_SHARE));
  const stepFrames = Math.max(1, Math.min(LONGEST_STEP_FRAMES, fitting));
  const fadeFrames = Math.floor(stepFrames * FADE_SHARE);
  return { framesPerSecond: FRAMES_PER_SECOND, stepFrames, fadeFrames, frames: pictures * stepFrames + fadeFrames };
}

/** When each picture is seen, fades included. */
export function segmentsOf(
  pictures: number,
  { stepFrames, fadeFrames }: Timing,
): Pick<Result['segments'][number], 'start_seconds' | 'end_seconds'>[] {
  return Array.from({ length: pictures }, (_, index) => ({
    start_seconds: (index * stepFrames) / FRAMES_PER_SECOND,
    end_seconds: ((index + 1) * stepFrames + fadeFrames) / FRAMES_PER_SECOND,
  }));
}

/** Frames of a video in its order; pictures round the vehicle. @param arranged by ascending azimuth */
export function inWalkOrder<Item extends { azimuthDegrees: number; picture: Pick<Picture, 'timeOffsetMs'> }>(
  arranged: readonly Item[],
): Item[] {
  if (arranged.some(({ picture }) => picture.timeOffsetMs !== undefined)) {
    return arranged.toSorted((a, b) => (a.picture.timeOffsetMs ?? 0) - (b.picture.timeOffsetMs ?? 0));
  }
  const gaps = gapsOf(arranged);
  const largest = Math.max(...gaps);
  const fromFrontLeft = arranged.map(({ azimuthDegrees }) => degreesBetween(azimuthDegrees, FRONT_LEFT_DEGREES));
  const first = largest > GAP_DEGREES ? gaps.indexOf(largest) + 1 : fromFrontLeft.indexOf(Math.min(...fromFrontLeft));
  return [...arranged.slice(first), ...arranged.slice(0, first)];
}
