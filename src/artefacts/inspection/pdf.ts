/** PDF: header, trailer, and metadata of embedded pictures. Source: ISO 32000-1, clauses 7.5.2 and 7.5.5. */
import { FileFault } from './file-fault.ts';

const METADATA = ['Exif\0\0', 'http://ns.adobe.com/xap/', 'Photoshop 3.0'];
/** Covers the trailer: `startxref`, an offset and `%%EOF`. */
const END_BYTES = 64;
/** Covers the beginning of a cross-reference table. */
const TABLE_BYTES = 32;

/** @throws FileFault */
export function examinePdf(bytes: Buffer): null {
  const found = METADATA.find((text) => bytes.includes(text, 0, 'latin1'));
  if (found) throw new FileFault(`contains ${found.replace(/\0/g, '')}`);
  const isPdf = /^%PDF-[12]\.\d[\r\n ]/.test(bytes.toString('latin1', 0, 9));
  const end = bytes.toString('latin1', Math.max(bytes.length - END_BYTES, 0));
  const [, table] = /startxref\s+(\d+)\s+%%EOF(?:\r\n|\r|\n)?$/.exec(end) ?? [];
  if (!isPdf || table === undefined) throw new FileFault('is not a PDF from "%PDF-" to "%%EOF"');
  const at = Number(table);
  const isTable = /^(?:xref\s|\d+\s+\d+\s+obj\b)/.test(bytes.toString('latin1', at, at + TABLE_BYTES));
  if (!isTable) throw new FileFault('has no object table where its trailer says');
  return null;
}
