/**
 * The printed front of North American licences: AAMVA DL/ID Card Design Standard, annex A. Jurisdictions arrange it as they
 * like; the standard's labels are what they have in common.
 */
import { findDate } from './dates.ts';
import { type Page, partOf, type Reading, type Run, readingOf, runOf } from './page.ts';

export type AmericanFields = Partial<
  Record<'family_name' | 'given_names' | 'birth_date' | 'sex' | 'number' | 'issue_date' | 'expiry_date', Reading>
> & { vehicleClass?: Reading };

const TITLE = /\bDRIVER'?S?[’']?S?\s+LICEN[CS]E\b|\bPERMIS DE CONDUIRE\b.*\bDRIVER/i;

/** Each with the number of the standard before it, the point and the colon as printed or not. */
const LABELS: Readonly<Record<keyof AmericanFields, RegExp>> = {
  family_name: /(?:^|\s)(?:1\s*)?LN[.:]?\s+([A-Z][A-Z' -]+)/,
  given_names: /(?:^|\s)(?:2\s*)?FN[.:]?\s+([A-Z][A-Z' -]+)/,
  birth_date: /(?:^|\s)(?:3\.?\s*)?DOB[.:]?\s*([\d/.-]{10})/,
  sex: /(?:^|\s)(?:15\.?\s*)?SEX[.:]?\s*([MFX])\b/,
  number: /(?:^|\s)(?:4d\.?\s*)?(?:DLN?|DL NO|LIC(?:ENSE)? NO|NUMBER)[.:#]?\s+([A-Z0-9][A-Z0-9-]{4,18})(?=\s|$)/i,
  issue_date: /(?:^|\s)(?:4a\.?\s*)?ISS(?:UED)?[.:]?\s*([\d/.-]{10})/i,
  expiry_date: /(?:^|\s)(?:4b\.?\s*)?EXP(?:IRES)?[.:]?\s*([\d/.-]{10})/i,
  vehicleClass: /(?:^|\s)(?:9\.?\s*)?CLASS[.:]?\s*([A-Z0-9]{1,3})(?=\s|$)/,
};
const DATES = new Set(['birth_date', 'issue_date', 'expiry_date']);
const SEXES: Readonly<Record<string, string>> = { M: 'male', F: 'female', X: 'other' };

export function hasAmericanTitle({ pieces }: Page): boolean {
  return pieces.some(({ text }) => TITLE.test(text));
}

export function readAmericanFields({ rows, imageIndex }: Page): AmericanFields {
  const fields: AmericanFields = {};
  for (const row of rows) {
    const run = runOf(row);
    for (const [field, label] of Object.entries(LABELS) as [keyof AmericanFields, RegExp][]) {
      const found = label.exec(run.text);
      if (!found?.[1] || fields[field]) continue;
      const from = found.index + found[0].lastIndexOf(found[1]);
      const reading = readingOfField(field, partOf(run, from, from + found[1].length), imageIndex);
      if (reading) fields[field] = reading;
    }
  }
  return fields;
}

function readingOfField(field: keyof AmericanFields, run: Run, imageIndex: number): Reading | null {
  if (DATES.has(field)) {
    const date = findDate(run.text, { isMonthFirst: true });
    return date && readingOf(partOf(run, date.from, date.to), imageIndex, date.iso);
  }
  return readingOf(run, imageIndex, field === 'sex' ? (SEXES[run.text] ?? null) : run.text.trim());
}
