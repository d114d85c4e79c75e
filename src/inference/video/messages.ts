/** Messages between a worker and its video decoding process, over Node's IPC (structured clone). */
import type { ErrorCode } from '../../contracts/error-codes.ts';

export interface VideoFacts {
  durationMs: number;
  /** As displayed, in pixels, after rotation. */
  width: number;
  height: number;
  framesPerSecond: number;
  /** Interval between taken frames. */
  frameDistanceMs: number;
}

export interface TakenFrame {
  timeOffsetMs: number;
  /** Size of the JPEG, in pixels. */
  width: number;
  height: number;
  /** Comparable between frames of one video only; higher is sharper. */
  sharpness: number;
  /** Upright, sRGB, without metadata. */
  jpeg: Uint8Array;
}

/** Figures of a finished decode. */
export interface DecodeFigures {
  decodedFrames: number;
  /** Most decoded frames in memory at the same time. */
  mostFramesHeld: number;
  peakResidentBytes: number;
}

export interface DecodeLimits {
  /** Most frames taken of a video. */
  mostFrames: number;
  /** Minimum interval between two of them. */
  leastDistanceMs: number;
  /** Resident memory above which the process gives up. */
  residentBytes: number;
}

export type MessageToDecoder =
  | { type: 'open'; path: string; limits: DecodeLimits }
  /** Asks for the next frame. Nothing is decoded ahead. */
  | { type: 'next' };

export type MessageFromDecoder =
  | { type: 'facts'; facts: VideoFacts }
  /** A sign of progress. */
  | { type: 'working' }
  | { type: 'frame'; frame: TakenFrame }
  | { type: 'end'; figures: DecodeFigures }
  /** `code` is that of a ServiceError; null for any other error. */
  | { type: 'failed'; code: ErrorCode | null; message: string };
