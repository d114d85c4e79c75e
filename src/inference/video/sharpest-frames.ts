/** The sharpest frame of each passage of a video, kept in files, so that memory holds one frame at a time. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TakenFrame } from './messages.ts';
import type { WatchedVideo } from './watch-video.ts';

/** A JPEG, upright. */
export interface KeptFrame {
  path: string;
  timeOffsetMs: number;
}

/**
 * Divides the video into `most` passages of one length, and keeps a frame of each that has one.
 * @param folder where their files are written
 * @returns in the order of time
 */
export async function keepSharpestFrames(
  { facts, frames }: WatchedVideo,
  most: number,
  folder: string,
): Promise<KeptFrame[]> {
  const passageMs = facts.durationMs / most;
  const kept: KeptFrame[] = [];
  let best: TakenFrame | null = null;
  let passage = 0;
  const keep = async () => {
    if (!best) return;
    const path = join(folder, `${passage}.jpg`);
    await writeFile(path, best.jpeg);
    kept.push({ path, timeOffsetMs: best.timeOffsetMs });
    best = null;
  };
  for await (const frame of frames) {
    const at = Math.min(most - 1, Math.floor(frame.timeOffsetMs / passageMs));
    if (at !== passage) await keep();
    passage = at;
    if (!best || frame.sharpness > best.sharpness) best = frame;
  }
  await keep();
  return kept;
}

/** Calls `use` with a folder that is removed afterwards. */
export async function withFrameFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'frames-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
