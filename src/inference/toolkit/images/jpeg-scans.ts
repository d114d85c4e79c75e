/** Structure of a JPEG file. Source: ITU-T T.81, annex B. */

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Number of scans of a JPEG, counted up to `most` + 1. A decoder processes the whole picture once per scan. */
export function countScans(file: Uint8Array, most: number): number {
  let scans = 0;
  // After the start of the image. The decoder reports files that are not JPEGs.
  let at = nextMarker(file, 2);
  while (at !== -1 && scans <= most) {
    const marker = file[at + 1];
    if (marker === END_OF_IMAGE) break;
    if (marker === START_OF_SCAN) scans += 1;
    at = nextMarker(file, at + 2 + (((file[at + 2] ?? 0) << 8) | (file[at + 3] ?? 0)));
  }
  return scans;
}

/** The next marker that begins a segment. Within scan data, 0xFF is followed by 0 or a restart marker. */
function nextMarker(file: Uint8Array, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const marker = file[at + 1] ?? 0;
    const isData = marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7);
    if (!isData) return at;
  }
  return -1;
}
