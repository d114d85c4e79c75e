/**
 * Checks that artefacts carry no metadata of the pictures they were made from: no place, time, device or author. Each format
 * has an allow-list of its parts; anything else is a fault. Only the structure is walked; compressed data is not decoded.
 */
import { FileFault } from './file-fault.ts';
import { examineHtml } from './html.ts';
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
  'text/html; charset=utf-8': examineHtml,
};

/**
 * Returns the size of a picture or film in pixels; null for a document.
 * @param mediaType one of `ARTEFACT_MEDIA_TYPES`
 * @throws FileFault when the file is incomplete or contains anything else
 */
export function inspectArtefact(file: Uint8Array, mediaType: string): Size | null {
  const examine = EXAMINE[mediaType];
  if (!examine) throw new FileFault(`is ${mediaType}, which is not an artefact type`);
  return examine(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
}

/** Source: RFC 8259. */
function examineJson(bytes: Buffer): null {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return null;
  } catch {
    throw new FileFault('is not JSON in UTF-8');
  }
}
