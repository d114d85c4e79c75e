/** Print → the typed value of a field, with the characters it was parsed from. */
import { asOneOf, textOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import type { FieldRule, TextKind } from './field-rules.ts';
import { isLabel } from './find-anchors.ts';
import { parseAmount } from './parse-amount.ts';
import { type MonthFirst, type Parsed, parseDate } from './parse-date.ts';
import {
  parseCategory,
  parseEmissionClass,
  parseMake,
  parseNumberText,
  parseQuantity,
  parseRegistration,
  parseTypeApproval,
  parseWords,
} from './parse-values.ts';
import type { Result } from './result.ts';

type Field = Result['fields'][number];
/** A field without what every field has. */
type Typed<Each> = Each extends Field ? Omit<Each, 'label' | 'text' | 'confidence' | 'image_index' | 'bbox'> : never;

export interface Value {
  typed: Typed<Field>;
  /** As printed. At least one. */
  characters: readonly PrintedCharacter[];
}

export interface Conventions {
  monthFirst: MonthFirst;
  /** Of amounts without a printed one; null when it is unknown. */
  currency: string | null;
}

/** Null when the print is no value of the field. */
export function parseValue(
  rule: FieldRule,
  printed: readonly PrintedCharacter[],
  { monthFirst, currency }: Conventions,
): Value | null {
  const text = textOf(printed);
  const partOf = ({ start, end }: Parsed<unknown>) => printed.slice(start, end);
  if (rule.type === 'date') {
    const parsed = parseDate(text, monthFirst);
    return parsed && { typed: { type: 'date', name: rule.name, value: parsed.value }, characters: partOf(parsed) };
  }
  if (rule.type === 'money') {
    const parsed = parseAmount(text);
    if (!parsed) return null;
    const { minor, currency: own } = parsed.value;
    return {
      typed: { type: 'money', name: rule.name, value: minor, currency: own ?? currency },
      characters: partOf(parsed),
    };
  }
  if (rule.type === 'number') {
    const parsed = parseQuantity(text, rule.range, rule.units);
    if (!parsed) return null;
    const { value, unit } = parsed.value;
    return {
      typed: { type: 'number', name: rule.name, value, unit: unit ?? rule.unit },
      characters: partOf(parsed),
    };
  }
  if (rule.kind === 'vin') return vinOf(printed);
  // A label in another place, or one that the picture shows in part. `TIPO` is a model, too.
  const isModel = rule.name === 'model' && !/\p{Ll}/u.test(text);
  if (WORDED.has(rule.kind) && !isModel && isLabel(text)) return null;
  const parsed = PARSERS[rule.kind](text);
  return parsed && { typed: { type: 'text', name: rule.name, value: parsed.value }, characters: partOf(parsed) };
}

/** Values that are words, as labels are. */
const WORDED: ReadonlySet<TextKind> = new Set(['make', 'words', 'name']);

const PARSERS: Readonly<Record<Exclude<TextKind, 'vin'>, (text: string) => Parsed<string> | null>> = {
  registration: parseRegistration,
  category: parseCategory,
  type_approval: parseTypeApproval,
  number_text: parseNumberText,
  make: parseMake,
  emission_class: parseEmissionClass,
  words: (text) => parseWords(text, 1),
  name: (text) => parseWords(text, 2),
  address: (text) => parseWords(text, 3),
};

const VIN_LENGTH = 17;
/** A VIN never contains I, O or Q: they look like 1 and 0 (ISO 3779). */
const VIN_CHARACTERS = new Set('ABCDEFGHJKLMNPRSTUVWXYZ0123456789');
/** Of its last four characters (ISO 3779). */
const LEAST_DIGITS = 2;

function vinOf(printed: readonly PrintedCharacter[]): Value | null {
  const text = textOf(printed);
  const words = [...text.matchAll(/\S+/g)].map(({ index, 0: word }) => ({ start: index, end: index + word.length }));
  for (const [first, { start }] of words.entries()) {
    let length = 0;
    for (const { start: from, end } of words.slice(first)) {
      length += end - from;
      if (length < VIN_LENGTH) continue;
      if (length > VIN_LENGTH) break;
      const solid = printed.slice(start, end).filter(({ character }) => character !== ' ');
      // Nothing is missing beside seventeen characters.
      const whole = solid.map((each) => ({ ...each, isAtCut: false }));
      const characters = whole.map((each) => asOneOf(each, VIN_CHARACTERS)).filter((each) => each !== undefined);
      const value = textOf(characters);
      const digits = (value.slice(-4).match(/\d/g) ?? []).length;
      if (characters.length !== VIN_LENGTH || digits < LEAST_DIGITS) break;
      return { typed: { type: 'text', name: 'vin', value }, characters };
    }
  }
  return null;
}
