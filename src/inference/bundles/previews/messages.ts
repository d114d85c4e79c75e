/** Messages between a worker and its preview process, over Node's IPC (structured clone). */

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
  /** Of the picture that it is made of, upright. */
  picture: { width: number; height: number };
}

/** `ready` once, when the process is warm; then one `made` per task, null for a picture that cannot be read. */
export type PreviewMessage = { type: 'ready' } | { type: 'made'; preview: Preview | null };
