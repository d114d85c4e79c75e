/**
 * The printed front of North American licences: AAMVA DL/ID Card Design Standard, annex A. Jurisdictions arrange it as they
 * like; the standard's labels and numbers are what they have in common.
 */
import { findDate } from './dates.ts';
import { findNumberedFields, type Numbering } from './european.ts';
import { type Page, partOf, type Reading, type Run, readingOf, runOf } from './page.ts';

export type AmericanFields = Partial<
  Record<
    'family_name' | 'given_names' | 'birth_date' | 'sex' | 'address' | 'number' | 'issue_date' | 'expiry_date',
    Reading
  >
> & { vehicleClass?: Reading };
type Labelled = Exclude<keyof AmericanFields, 'address'>;

const TITLE = /\bDRIVER'?S?[’']?S?\s+LICEN[CS]E\b|\bPERMIS DE CONDUIRE\b.*\bDRIVER/i;

/** Each with the number of the standard before it, the point and the colon as printed or not. */
const LABELS: Readonly<Record<Labelled, RegExp>> = {
  family_name: /(?:^|\s)(?:1\s*)?LN[.:]?\s+([A-Z][A-Z' -]+)/,
  given_names: /(?:^|\s)(?:2\s*)?FN[.:]?\s+([A-Z][A-Z' -]+)/,
  birth_date: /(?:^|\s)(?:3\.?\s*)?(?:DOB|BIRTH ?DATE|DATE OF BIRTH)[.:]?\s*([\dA-Z/.-]{10,11})/i,
  sex: /(?:^|\s)(?:15\.?\s*)?SEX[.:]?\s*([MFX])\b/,
  number:
    /(?:^|\s)(?:4d\.?\s*)?(?:(?:DLN?|DL NO|LIC(?:ENSE)? NO|NUMBER|ID)[.:#]?\s+|(?:DL|LIC|ID)\s?#\s*)((?=[A-Z-]*\d)[A-Z0-9][A-Z0-9-]{4,18})(?=\s|$)/i,
  issue_date: /(?:^|\s)(?:4a\.?\s*)?ISS(?:UED)?[.:]?\s*([\dA-Z/.-]{10,11})/i,
  expiry_date: /(?:^|\s)(?:4b\.?\s*)?EXP(?:IRES)?[.:]?\s*([\dA-Z/.-]{10,11})/i,
  vehicleClass: /(?:^|\s)(?:9\.?\s*)?CLASS[.:]?\s*([A-Z0-9]{1,3})(?=\s|$)/,
};
const DATES = new Set(['birth_date', 'issue_date', 'expiry_date']);
const SEXES: Readonly<Record<string, string>> = { M: 'male', F: 'female', X: 'other' };

/** Numbers that many jurisdictions print without a label. They stand at the left of their values. */
const NUMBERING: Numbering = { pattern: /^(?:(4d)|([12]))[.,]?(?=\s|$)/gi, continued: [] };
const NAME = /^[A-Z][A-Z' .-]+$/;
const LICENSE_NUMBER = /^(?=.*\d)[A-Z0-9][A-Z0-9 -]{4,18}$/;
/** The last line of an address: town, state and ZIP code, or province and postal code. */
const TOWN = /^\p{Lu}.*[ ,][A-Z]{2}[ ,]+(?:\d{5}(?:-\d{4})?|[A-Z]\d[A-Z] ?\d[A-Z]\d)$/u;
/** Between the two lines of an address, in heights. */
const LINE_GAP = 0.9;
/** By which the line with the number 8 begins further left. */
const INDENT = 0.35;
const GREATEST_INDENT = 2.5;

export function hasAmericanTitle({ pieces }: Page): boolean {
  return pieces.some(({ text }) => TITLE.test(text));
}

export function readAmericanFields(page: Page): AmericanFields {
  const { rows, imageIndex } = page;
  const fields: AmericanFields = {};
  for (const row of rows) {
    const run = runOf(row);
    for (const [field, label] of Object.entries(LABELS) as [Labelled, RegExp][]) {
      const found = label.exec(run.text);
      if (!found?.[1] || fields[field]) continue;
      const from = found.index + found[0].lastIndexOf(found[1]);
      const reading = readingOfField(field, partOf(run, from, from + found[1].length), imageIndex);
      if (reading) fields[field] = reading;
    }
  }
  const numbered = findNumberedFields(page, NUMBERING);
  const own = (number: '1' | '2' | '4d', pattern: RegExp) => {
    const run = numbered.get(number);
    return run && pattern.test(run.text) ? readingOf(run, imageIndex) : null;
  };
  const unlabelled = {
    family_name: own('1', NAME),
    given_names: own('2', NAME),
    number: own('4d', LICENSE_NUMBER),
    address: addressIn(page),
  };
  for (const [field, reading] of Object.entries(unlabelled) as [keyof typeof unlabelled, Reading | null][]) {
    if (reading) fields[field] ??= reading;
  }
  return fields;
}

function readingOfField(field: Labelled, run: Run, imageIndex: number): Reading | null {
  if (DATES.has(field)) {
    const date = findDate(run.text, { isMonthFirst: true });
    return date && readingOf(partOf(run, date.from, date.to), imageIndex, date.iso);
  }
  return readingOf(run, imageIndex, field === 'sex' ? (SEXES[run.text] ?? null) : run.text.trim());
}

/** The line with the ZIP code, and the street above it, with or without its number. */
function addressIn({ pieces, imageIndex }: Page): Reading | null {
  const town = pieces.find(({ text }) => TOWN.test(text.trim()));
  if (!town) return null;
  const height = town.box.y1 - town.box.y0;
  const street = pieces.find(
    ({ box }) =>
      Math.abs(town.box.y0 - box.y1) < LINE_GAP * height &&
      Math.abs(town.box.x0 - box.x0) < GREATEST_INDENT * height &&
      box.y0 < town.box.y0 - height / 2,
  );
  if (!street) return null;
  const isNumbered = /^8[.,]?\s*(?=\S{2})/.exec(street.text);
  const isFurtherLeft = town.box.x0 - street.box.x0 > INDENT * height;
  const first = runOf([street]);
  const lines = [isNumbered && isFurtherLeft ? partOf(first, isNumbered[0].length) : first, runOf([town])];
  return readingOf(joined(lines), imageIndex, lines.map(({ text }) => text.trim()).join(', '));
}

function joined(lines: readonly Run[]): Run {
  return {
    text: lines.map(({ text }) => text.trim()).join('\n'),
    characters: lines.flatMap(({ characters }) => characters),
  };
}
