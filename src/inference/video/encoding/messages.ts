/** Messages between a worker and the process that encodes one film, over Node's IPC (structured clone). */

/** How a film shows its pictures: one after another, each cross-faded into the next. */
export interface FilmPlan {
  /** In pixels, even. */
  width: number;
  height: number;
  pictures: number;
  framesPerSecond: number;
  /** Frames from the start of one picture to the start of the next. */
  stepFrames: number;
  /** Frames for which a picture and the next overlap, fewer than `stepFrames`. The last picture stays as much longer. */
  fadeFrames: number;
  /** XMP of the file. */
  packet: string;
}

export type MessageToEncoder =
  | { type: 'begin'; plan: FilmPlan }
  /** The next picture: a JPEG of the film's size. */
  | { type: 'picture'; jpeg: Uint8Array };

export type MessageFromEncoder =
  /** Asks for the next picture. */
  | { type: 'wanted' }
  /** A sign of progress. */
  | { type: 'working' }
  | { type: 'film'; mp4: Uint8Array; peakResidentBytes: number }
  | { type: 'failed'; message: string };
