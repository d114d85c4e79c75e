/** Codes and labels in a line of print: each announces the value of a field. */
import type { DOCUMENT_TYPES } from '../../contracts/vocabulary/documents.ts';
import { CERTIFICATE_LABELS } from './certificate-labels.ts';
import { CODES, type CodeMeaning, FIELD_RULES, type FieldName, type FieldRule } from './field-rules.ts';
import { fold, foldText, standsAt, wordStarts } from './folded-text.ts';
import { LABELS, type LabelEntry } from './printed-labels.ts';

type DocumentType = (typeof DOCUMENT_TYPES)[number];

export interface Anchor {
  /** Null for a code of no field. */
  rule: FieldRule | null;
  /** As printed, without brackets and colons. */
  label: string;
  /** The harmonised code; null for a label. */
  code: string | null;
  /** Range of characters, with a description after a code. */
  start: number;
  end: number;
}

interface Code {
  code: string;
  start: number;
  end: number;
}

const CODE = /^[([]?\s?([A-Z])(?:\s?[.,]\s?|\s?)(\d)?(?:[.,]?\s?(\d))?\s?[.:]?\s?[)\]]?\s?[.:]?(?=\s|$|[:)\]])/;
/** National codes that have no meaning here. */
const UNKNOWN = /^[([]?([A-Z])\.(\d)(?:\.\d)?[)\]]?[.:]?(?=\s|$)/;
const DOTTED = /(?<![^\s])[([]?([A-Z])[.,](\d)(?:[.,](\d))?[)\]]?[.:]?(?=\s|$)/g;
const BRACKETED = /[([]([A-Z])(?:\.(\d))?(?:\.(\d))?[)\]][.:]?/g;
const LETTER = /(?<=\s)([BEGHIJ])(?=\s)/g;

/** The date of a registration: its code is read as other strokes. A `1` is one only with the date beside it. */
const STROKE = /^(?:[l|](?=$|\s|\d)|1(?=\s+\d))(?=\s*(?:$|\d{1,2}[./ -]\d{1,2}[./ -]\d{4}$|\d{4}-\d\d-\d\d$))/;

/** The code of a VIN, read without the space between them. */
const BEFORE_VIN = /^E(?=[A-Z0-9]{13}\d{4}(?:\s|$))/;

/** The code that a line starts with, if any. Dots may be misread or missing. */
export function codeAtStart(text: string): Code | null {
  if (STROKE.test(text)) return { code: 'I', start: 0, end: 1 };
  if (BEFORE_VIN.test(text)) return { code: 'E', start: 0, end: 1 };
  const match = CODE.exec(text);
  const code = match ? codeOf(match[1], match[2], match[3]) : null;
  if (match && code !== null) return { code, start: 0, end: match[0].length };
  const unknown = UNKNOWN.exec(text);
  return unknown ? { code: `${unknown[1]}.${unknown[2]}`, start: 0, end: unknown[0].length } : null;
}

function codeOf(letter = '', one?: string, two?: string): string | null {
  const code = [letter, one, two].filter((part) => part !== undefined).join('.');
  return Object.hasOwn(CODES, code) ? code : null;
}

/** All codes of a line of a registration certificate, in order. */
function codesIn(text: string): Code[] {
  const first = codeAtStart(text);
  const further = [DOTTED, BRACKETED, LETTER].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const code = codeOf(match[1], match[2], match[3]);
      return code === null ? [] : [{ code, start: match.index, end: match.index + match[0].length }];
    }),
  );
  const sorted = [...(first ? [first] : []), ...further].toSorted((a, b) => a.start - b.start);
  return sorted.filter((code, index) => sorted.slice(0, index).every((earlier) => earlier.end <= code.start));
}

interface FoldedLabel {
  name: FieldName;
  types: readonly DocumentType[] | undefined;
  folded: string;
}

/** Longest first: `Date of first registration` before `Date`. */
const FOLDED_LABELS: readonly FoldedLabel[] = [
  ...LABELS,
  ...Object.entries(CERTIFICATE_LABELS).map(
    ([name, printed]): LabelEntry => ({ name: name as FieldName, in: ['registration_certificate'], printed }),
  ),
]
  .flatMap(({ name, in: types, printed }) =>
    Object.values(printed)
      .flat()
      .map((label) => ({ name, types, folded: fold(label) })),
  )
  .toSorted((a, b) => b.folded.length - a.folded.length);

/** First words of the labels of texts. Shorter ones are words of their own. */
const LEAST_LABEL_WORD = 3;
const LABEL_WORDS: ReadonlySet<string> = new Set(
  FOLDED_LABELS.flatMap(({ name, folded }) => {
    const word = folded.split(' ', 1)[0] ?? '';
    return FIELD_RULES[name].type === 'text' && word.length >= LEAST_LABEL_WORD ? [word] : [];
  }),
);
/** The same without their last letter, as bad pictures show them. */
const CUT_LABEL_WORDS: ReadonlySet<string> = new Set(
  [...LABEL_WORDS].filter((word) => word.length > LEAST_LABEL_WORD).map((word) => word.slice(0, -1)),
);

/** A code at the start of a label that was read as one word with it. */
const GLUED_CODE = /^[([]?[A-Z](?:[.,]\d){0,2}[)\]]?[\s.:-]*(?=\p{Lu}\p{Ll})/u;

/** Whether a text is nothing but the first word of a label, of which the last letter may be missing, or a code with its label. */
export function isLabel(text: string): boolean {
  const folded = fold(text);
  if (LABEL_WORDS.has(folded) || CUT_LABEL_WORDS.has(folded)) return true;
  const described = text.replace(GLUED_CODE, '');
  return described !== text && LABEL_WORDS.has(fold(described).split(' ', 1)[0] ?? '');
}

/** Words after a label that belong to it. */
const FILLERS = new Set(['no', 'nr', 'n', 'number', 'nummer', 'numero', 'num', 'kw', 'kg', 'cm3', 'cc', 'g', 'km']);
const NUMBERING = /^[([]?\d{1,2}(?:[.-]\d{1,2})?[)\]]?[.:]?\s+(?=[\p{L}\d])/u;

export type FieldNumbers = Readonly<Record<string, CodeMeaning>>;

/**
 * @param type of the document; null where it is unknown
 * @param numbers that announce fields at the start of a line
 */
export function findAnchors(
  text: string,
  type: DocumentType | null,
  hasCodes: boolean,
  numbers: FieldNumbers = {},
): Anchor[] {
  const codes = hasCodes ? codesIn(text).filter((code) => !isProse(text, code)) : [];
  if (codes.length > 0) {
    return codes.map(({ code, start, end }, index) => {
      const meaning = CODES[code] ?? null;
      const limit = codes[index + 1]?.start ?? text.length;
      return {
        rule: meaning ? ruleOf(meaning.name, meaning.unit) : null,
        label: code,
        code,
        start,
        end: meaning ? afterDescription(text, end, limit, meaning.name) : end,
      };
    });
  }
  const labels = labelsIn(text, type);
  const numbered = labels.length > 0 ? null : numberAt(text, numbers);
  return numbered ? [numbered] : labels;
}

/** A number alone, or before words that are no label. */
function numberAt(text: string, numbers: FieldNumbers): Anchor | null {
  const [all, number = ''] = /^(\d{2})(?=\s|$)/.exec(text) ?? [];
  const meaning = numbers[number];
  if (!all || !meaning) return null;
  return { rule: ruleOf(meaning.name, meaning.unit), label: number, code: number, start: 0, end: all.length };
}

/** A single letter before words in small letters is the start of a sentence. */
function isProse(text: string, { code, end }: Code): boolean {
  const rest = text.slice(end).trim();
  if (code.includes('.') || rest === '') return false;
  if (/^[([]/.test(text)) return false;
  const name = CODES[code]?.name;
  const described = name ? afterDescription(text, end, text.length, name) > end : false;
  return !described && /^\p{Ll}{3}/u.test(rest);
}

function ruleOf(name: FieldName, unit: NonNullable<(typeof CODES)[string]>['unit']): FieldRule {
  const rule = FIELD_RULES[name];
  return rule.type === 'number' && unit ? { ...rule, unit, units: [unit] } : rule;
}

/** The end of a label of this field after its code, or the end of the code. */
function afterDescription(text: string, from: number, limit: number, name: FieldName): number {
  const label = labelAt(text.slice(from, limit), (entry) => entry.name === name);
  return label ? from + label.end : from;
}

function labelsIn(text: string, type: DocumentType | null): Anchor[] {
  const applies = ({ types }: FoldedLabel) => types === undefined || (type !== null && types.includes(type));
  const numbering = NUMBERING.exec(text)?.[0].length ?? 0;
  const first = labelAt(text.slice(numbering), applies);
  const anchors: Anchor[] = [];
  if (first) anchors.push(anchorOf(first, text, numbering));
  // Further labels of a line need a colon.
  for (const { index } of text.matchAll(/(?<=\s)\p{L}/gu)) {
    if (index < (anchors.at(-1)?.end ?? 0)) continue;
    const label = labelAt(text.slice(index), applies);
    if (label?.hasColon) anchors.push(anchorOf(label, text, index));
  }
  return anchors;
}

interface Label {
  name: FieldName;
  /** Range of the label itself, and the end with fillers and punctuation. */
  length: number;
  end: number;
  hasColon: boolean;
}

function labelAt(text: string, applies: (entry: FoldedLabel) => boolean): Label | null {
  const label = oneLabelAt(text, applies);
  if (!label) return null;
  // The same in other languages.
  const slash = /^[\s.:)]*[/|]\s*/.exec(text.slice(label.length))?.[0];
  if (slash === undefined) return label;
  const from = label.length + slash.length;
  const other = labelAt(text.slice(from), ({ name }) => name === label.name);
  if (other) return { ...other, length: from + other.length, end: from + other.end };
  const words = /^[\p{L} .'’-]+/u.exec(text.slice(from))?.[0] ?? '';
  return { ...label, length: from + words.length, end: from + words.length };
}

/** Rates after a label, such as `19 %`. */
const RATE = /^[\s(]*\d{1,2}(?:[.,]\d{1,2})?\s?%\)?[\s.:]*/;

function oneLabelAt(text: string, applies: (entry: FoldedLabel) => boolean): Label | null {
  const { folded, places } = foldText(text);
  const entry = FOLDED_LABELS.find((each) => applies(each) && standsAt(folded, 0, each.folded));
  if (!entry) return null;
  let last = entry.folded.length;
  for (const place of wordStarts(folded).filter((start) => start > entry.folded.length)) {
    const word = folded.slice(place).split(' ', 1)[0] ?? '';
    const between = text.slice((places[last - 1] ?? 0) + 1, places[place]);
    if (place > last + 1 || between.includes('/') || !FILLERS.has(word)) break;
    last = place + word.length;
  }
  const length = (places[last - 1] ?? -1) + 1;
  // `KM-220-XE` is a number, not kilometres.
  if (/^-[\p{L}\p{N}]/u.test(text.slice(length))) return null;
  const punctuation = /^[\s.:#°º)\]*-]*/u.exec(text.slice(length))?.[0] ?? '';
  const rate = RATE.exec(text.slice(length + punctuation.length))?.[0] ?? '';
  const end = length + punctuation.length + rate.length;
  return { name: entry.name, length, end, hasColon: punctuation.includes(':') };
}

function anchorOf({ name, length, end }: Label, text: string, offset: number): Anchor {
  const label = text.slice(offset, offset + length).trim();
  return { rule: FIELD_RULES[name], label, code: null, start: offset, end: offset + end };
}
