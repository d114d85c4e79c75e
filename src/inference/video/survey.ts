/**
 * Reads a video once without decoding it, to check its stated length and to measure the distance of its key frames, which
 * decides how it is decoded. Runs in the decoding process only.
 */
import type { Packets } from './demux.ts';
import { isShown } from './is-shown.ts';
import { unreadable, VIDEO_FRAMES } from './unreadable.ts';

export interface Survey {
  frames: number;
  /** Time of the first frame, in microseconds. */
  first: number;
  /** In microseconds. */
  duration: number;
  /** Longest time without a key frame, in microseconds. */
  longestGap: number;
}

/** Packets read at once. */
const PACKETS = 200;
/** Share of the stated length, and microseconds, that may be missing. */
const TOLERANCE = 0.05;
const TOLERANCE_US = 1_000_000;

export async function surveyOf(packets: Packets, tell: () => void): Promise<Survey> {
  const codec = packets.demuxer.videoDecoderConfig?.codec ?? '';
  let frames = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let lastKey: number | null = null;
  let longestGap = 0;
  for (let chunks = await packets.next(PACKETS); chunks; chunks = await packets.next(PACKETS)) {
    for (const chunk of chunks) {
      if (!isShown(chunk, codec)) continue;
      const { type, timestamp } = chunk;
      frames += 1;
      first = Math.min(first, timestamp);
      last = Math.max(last, timestamp);
      if (type !== 'key') continue;
      longestGap = Math.max(longestGap, timestamp - (lastKey ?? timestamp));
      lastKey = timestamp;
    }
    if (frames > VIDEO_FRAMES) throw unreadable('too long');
    tell();
  }
  if (frames === 0 || lastKey === null) throw unreadable('damaged');

  const distance = frames > 1 ? (last - first) / (frames - 1) : 0;
  const stated = statedDuration(packets.demuxer);
  // A single frame lasts as long as the file states.
  const duration = frames > 1 ? last - first + distance : (stated ?? 0);
  if (stated !== null && duration < stated * (1 - TOLERANCE) && duration < stated - TOLERANCE_US) {
    throw unreadable('cut off');
  }
  return { frames, first, duration, longestGap: Math.max(longestGap, last - lastKey) };
}

/** Stated duration of the video track in microseconds, as sound may last longer; null if unknown. */
function statedDuration({ tracks, duration }: Packets['demuxer']): number | null {
  const picture = tracks.find(({ trackType }) => trackType === 'video');
  if (picture?.duration) return picture.duration;
  return tracks.length === 1 && duration ? duration : null;
}
