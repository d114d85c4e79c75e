/** What a worker and the process that decodes a video say to each other, over Node's IPC (structured clone). */
import type { ErrorCode } from '../../contracts/error-codes.ts';

export interface VideoFacts {
  durationMs: number;
  /** As displayed, in pixels: turned as the file says. */
  width: number;
  height: number;
  framesPerSecond: number;
  /** Time between the frames that are taken of it: each stands for as much of the video. */
  frameDistanceMs: number;
}

export interface TakenFrame {
  timeOffsetMs: number;
  /** Of the picture, in pixels. */
  width: number;
  height: number;
  /** Says which of two frames of one video is sharper. */
  sharpness: number;
  /** Upright, sRGB, without any metadata. */
  jpeg: Uint8Array;
}

/** Figures of a decode that has ended. */
export interface DecodeFigures {
  decodedFrames: number;
  /** Decoded frames that lay in memory at the same time. */
  mostFramesHeld: number;
  peakResidentBytes: number;
}

export interface DecodeLimits {
  /** Frames taken of a video, however long it is. */
  mostFrames: number;
  /** Least time between two of them. */
  leastDistanceMs: number;
  /** Memory of the process, above which it gives the video up. */
  residentBytes: number;
}

export type MessageToDecoder =
  | { type: 'open'; path: string; limits: DecodeLimits }
  /** The frame before was worked on: nothing is decoded ahead. */
  | { type: 'next' };

export type MessageFromDecoder =
  | { type: 'facts'; facts: VideoFacts }
  /** Still at work. */
  | { type: 'working' }
  | { type: 'frame'; frame: TakenFrame }
  | { type: 'end'; figures: DecodeFigures }
  /** `code` is that of a ServiceError; null for anything unforeseen. */
  | { type: 'failed'; code: ErrorCode | null; message: string };
