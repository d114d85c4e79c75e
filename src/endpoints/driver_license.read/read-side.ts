/** One picture's print and codes → what they say of a licence, and which of its sides they are. */
import type { FoundCode } from '../../inference/toolkit/codes/read-codes.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { type AmericanFields, hasAmericanTitle, readAmericanFields } from './american.ts';
import { type Category, findNumberedFields, type NumberedFields, readTable } from './european.ts';
import { layOut, type Page, type Reading, rectangleAround } from './page.ts';
import { type AamvaLicense, parseAamva } from './read-aamva.ts';
import { type Mrz, readMrz } from './read-mrz.ts';

export interface Side {
  page: Page;
  side: 'front' | 'back' | null;
  /** That it is this side of a licence. */
  confidence: number;
  /** Around the print and the code. */
  outline: Point[];
  numbered: NumberedFields;
  american: AmericanFields;
  isAmerican: boolean;
  table: Category[] | null;
  mrz: Mrz | null;
  barcode: Barcode | null;
}

export interface Barcode {
  /** Null if it cannot be decoded, or is not of the standard. */
  license: AamvaLicense | null;
  isDecoded: boolean;
  place: Pick<Reading, 'image_index' | 'bbox' | 'confidence'>;
}

/** Corrected by its own redundancy, or not decoded. */
const DECODED = 0.99;
const UNDECODED = 0.9;
/** Fields that every European front has, and most American ones. */
const EXPECTED = ['1', '2', '3', '4a', '4b', '5'] as const;
/** With fewer, it may be another document with numbered rows. */
const LEAST_FIELDS = 3;

export function readSide(lines: readonly PrintedLine[], codes: readonly FoundCode[], imageIndex: number): Side {
  const page = layOut(lines, imageIndex);
  const [numbered, american] = [findNumberedFields(page), readAmericanFields(page)];
  const table = readTable(page);
  const mrz = readMrz(page);
  const code = codes.find(({ symbology }) => symbology === 'pdf417');
  const barcode = code ? barcodeOf(code, imageIndex) : null;
  const americanFields = Object.keys(american).length;
  const europeanFields = EXPECTED.filter((number) => numbered.has(number)).length;
  const isAmerican =
    Boolean(barcode?.license) || americanFields >= LEAST_FIELDS || (hasAmericanTitle(page) && americanFields > 0);
  const points = [...lines.flatMap(({ quad }) => quad), ...(code?.quad ?? [])];
  const outline = points.length > 0 ? rectangleAround(points, page.angle) : [];
  const found = { page, outline, numbered, american, isAmerican, table, mrz, barcode };
  const fields = isAmerican ? americanFields : europeanFields;
  if (isAmerican ? americanFields > 0 && !isOnlyBarcode(barcode, americanFields) : europeanFields >= LEAST_FIELDS) {
    return { ...found, side: 'front', confidence: Math.min(DECODED, fields / EXPECTED.length) };
  }
  if (barcode?.license) return { ...found, side: 'back', confidence: DECODED };
  if (mrz) return { ...found, side: 'back', confidence: mrz.place.confidence };
  if (table && table.length > 0)
    return { ...found, side: 'back', confidence: Math.max(...table.map((row) => row.confidence)) };
  return { ...found, side: null, confidence: 0 };
}

/** Backs repeat a few fields beside their barcode. */
function isOnlyBarcode(barcode: Barcode | null, fields: number): boolean {
  return barcode !== null && fields < LEAST_FIELDS;
}

function barcodeOf({ content, quad }: FoundCode, imageIndex: number): Barcode {
  const confidence = content ? DECODED : UNDECODED;
  const place = { confidence, image_index: imageIndex, bbox: toBoundingBox(boxAround(quad)) };
  return { license: content && parseAamva(content.text), isDecoded: content !== null, place };
}
