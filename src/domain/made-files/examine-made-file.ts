/**
 * Files that the service hands out hold what they show, and nothing of where and when the pictures that they were made of
 * were taken, on what, by whom. What a file may consist of is listed for each format; anything else is a fault. Only the
 * structure is walked: what is compressed is not decoded.
 */
import { FileFault } from './file-fault.ts';
import { examineJpeg } from './jpeg.ts';
import { examineMp4 } from './mp4.ts';
import { examinePdf } from './pdf.ts';
import { examinePng } from './png.ts';
import type { Size } from './size.ts';
import { examineWebp } from './webp.ts';

type Examine = (bytes: Buffer) => Size | null;

const EXAMINE: Readonly<Record<string, Examine>> = {
  'image/jpeg': examineJpeg,
  'image/png': examinePng,
  'image/webp': examineWebp,
  'video/mp4': examineMp4,
  'application/pdf': examinePdf,
  'application/json': examineJson,
};

/**
 * The size of a picture or film that is whole and holds nothing else; null of a document.
 * @param mediaType one of `ARTEFACT_MEDIA_TYPES`
 * @throws FileFault
 */
export function examineMadeFile(file: Uint8Array, mediaType: string): Size | null {
  const examine = EXAMINE[mediaType];
  if (!examine) throw new FileFault(`is ${mediaType}, which is not made`);
  return examine(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
}

/** Source: RFC 8259. */
function examineJson(bytes: Buffer): null {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return null;
  } catch {
    throw new FileFault('is no JSON in UTF-8');
  }
}
