/** One picture's print and codes → what they say of a licence, and which of its sides they are. */
import type { DocumentIssue } from '../../contracts/vocabulary/documents.ts';
import type { FoundCode } from '../../inference/toolkit/codes/read-codes.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { outlineAround } from '../../inference/toolkit/text/page-layout.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { findDocumentIssues } from '../shared/document-issues.ts';
import { type AmericanFields, hasAmericanTitle, readAmericanFields } from './american.ts';
import { type Category, findNumberedFields, type NumberedFields, readTable } from './european.ts';
import { type FoundPictures, findPictures } from './find-pictures.ts';
import { type Page, type Reading, toRows } from './page.ts';
import { type AamvaLicense, parseAamva } from './read-aamva.ts';
import { type Mrz, readMrz } from './read-mrz.ts';

export interface Side extends FoundPictures {
  page: Page;
  side: 'front' | 'back' | null;
  /** That it is this side of a licence. */
  confidence: number;
  /** Around the print and the code, in pixels of the picture. */
  outline: Point[];
  numbered: NumberedFields;
  american: AmericanFields;
  isAmerican: boolean;
  table: Category[] | null;
  mrz: Mrz | null;
  barcode: Barcode | null;
  issues: DocumentIssue[];
}

export interface Barcode {
  /** Null if it cannot be decoded, or is not of the standard. */
  license: AamvaLicense | null;
  isDecoded: boolean;
  place: Pick<Reading, 'image_index' | 'bbox' | 'confidence'>;
}

export interface SeenPicture {
  picture: RgbImage;
  lines: readonly PrintedLine[];
  codes: readonly FoundCode[];
  imageIndex: number;
}

/** Corrected by its own redundancy, or not decoded. */
const DECODED = 0.99;
const UNDECODED = 0.9;
/** Fields that every European front has, and most American ones. */
const EXPECTED = ['1', '2', '3', '4a', '4b', '5'] as const;
/** With fewer, it may be another document with numbered rows. */
const LEAST_FIELDS = 3;

/** What does not change with other codes is measured later: `withIssues`. @param today ISO 8601, UTC */
export function readSide({ picture, lines, codes, imageIndex }: SeenPicture, today: string): Omit<Side, 'issues'> {
  const page = toRows(lines, imageIndex);
  const [numbered, american] = [findNumberedFields(page), readAmericanFields(page)];
  const table = readTable(page);
  const mrz = readMrz(page, today);
  const code = codes.find(({ symbology }) => symbology === 'pdf417');
  const barcode = code ? barcodeOf(code, imageIndex) : null;
  const isAmerican =
    Boolean(barcode?.license) ||
    (hasAmericanTitle(page) && Object.keys(american).length > 0) ||
    (Object.keys(american).length >= LEAST_FIELDS && !isEuropean(numbered));
  const found = { page, numbered, american, isAmerican, table, mrz, barcode };
  const { side, confidence } = sideOf(found);
  const printed = page.pieces.flatMap((piece) => piece.characters.flatMap(({ quad }) => [...quad]));
  const outline = side ? outlineAround(page.layout, [...printed, ...(code?.quad ?? [])], picture) : [];
  const pictures = side === 'front' ? findPictures(picture, page) : { portrait: null, signature: null };
  return { ...found, side, confidence, outline, ...pictures };
}

export function withIssues(
  found: Omit<Side, 'issues'>,
  { picture, lines, imageIndex }: Omit<SeenPicture, 'codes'>,
): Side {
  return { ...found, issues: findDocumentIssues(picture, lines, { imageIndex, isFound: found.side !== null }) };
}

type Found = Pick<Side, 'numbered' | 'american' | 'isAmerican' | 'table' | 'mrz' | 'barcode'>;

function sideOf({ numbered, american, isAmerican, table, mrz, barcode }: Found): Pick<Side, 'side' | 'confidence'> {
  const fields = isAmerican ? Object.keys(american).length : countOf(numbered);
  const isFront = isAmerican ? fields > 0 && !isOnlyBarcode(barcode, fields) : fields >= LEAST_FIELDS;
  if (isFront) return { side: 'front', confidence: Math.min(DECODED, fields / EXPECTED.length) };
  if (barcode?.license) return { side: 'back', confidence: DECODED };
  if (mrz) return { side: 'back', confidence: mrz.place.confidence };
  if (table && table.length > 0) return { side: 'back', confidence: Math.max(...table.map((row) => row.confidence)) };
  return { side: null, confidence: 0 };
}

function countOf(numbered: NumberedFields): number {
  return EXPECTED.filter((number) => numbered.has(number)).length;
}

function isEuropean(numbered: NumberedFields): boolean {
  return countOf(numbered) >= LEAST_FIELDS;
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
