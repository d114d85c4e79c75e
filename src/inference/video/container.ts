/** What kind of file a video is, by its first bytes: whatever is not one of these never reaches FFmpeg. */

export type Container = 'mp4' | 'webm';

/** Boxes that an MP4 or QuickTime file begins with. */
const FIRST_BOXES = ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'];
const EBML = '1a45dfa3';

/** FFmpeg would open play lists as well, which name other files and addresses. */
export function containerOf(firstBytes: Buffer): Container | null {
  if (firstBytes.toString('hex', 0, 4) === EBML) return 'webm';
  return FIRST_BOXES.includes(firstBytes.toString('latin1', 4, 8)) ? 'mp4' : null;
}
