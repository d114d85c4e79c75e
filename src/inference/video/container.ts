/** Detects a video's container by its first bytes. Other files never reach FFmpeg. */

export type Container = 'mp4' | 'webm';

/** Boxes that an MP4 or QuickTime file begins with. */
const FIRST_BOXES = ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'];
const EBML = '1a45dfa3';

/** Null for anything else: FFmpeg would also open playlists, which name other files and addresses. */
export function containerOf(firstBytes: Buffer): Container | null {
  if (firstBytes.toString('hex', 0, 4) === EBML) return 'webm';
  return FIRST_BOXES.includes(firstBytes.toString('latin1', 4, 8)) ? 'mp4' : null;
}
