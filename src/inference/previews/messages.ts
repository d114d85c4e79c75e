/** What a worker and the process that makes previews say to each other, over Node's IPC (structured clone). */

/** The box that a preview is fitted into, in pixels. */
export interface PreviewSize {
  width: number;
  height: number;
}

export interface PreviewTask {
  picture: Uint8Array;
  size: PreviewSize;
}

export interface Preview {
  /** sRGB, upright. */
  jpeg: Uint8Array;
  width: number;
  height: number;
}

/** First, when it is warm, `ready`; then one answer for each task, null where the picture cannot be read. */
export type PreviewMessage = { type: 'ready' } | { type: 'made'; preview: Preview | null };
