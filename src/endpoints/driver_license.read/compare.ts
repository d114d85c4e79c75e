/** Whether what is printed agrees with what a machine reads. */
import type { Result } from './result.ts';

type Comparison = NonNullable<Result['mrz']>['comparisons'][number];
type Field = Comparison['field'];
export type Values = Partial<Record<Field, string | null>>;

/** Each field that both have, in the order of `printed`. @param cutAfter most letters that the machine's name has */
export function compare(printed: Values, coded: Values, cutAfter = Number.POSITIVE_INFINITY): Comparison[] {
  return (Object.keys(printed) as Field[]).flatMap((field) => {
    const [one, other] = [printed[field], coded[field]].map((value) => plain(value ?? ''));
    if (!one || !other) return [];
    const isCut = field === 'family_name' && other.length >= cutAfter;
    const agrees = one === other || (isCut && one.startsWith(other)) || (field === 'address' && isLonger(other, one));
    return [{ field, agrees }];
  });
}

/** Codes hold nine digits of a ZIP code where five are printed. */
function isLonger(long: string, short: string): boolean {
  return long.startsWith(short) && /^\d{4}$/.test(long.slice(short.length));
}

/** Capitals without marks, spaces and points. German and Nordic letters as ICAO 9303 transliterates them in zones. */
function plain(text: string): string {
  return text
    .toUpperCase()
    .replaceAll('Ä', 'AE')
    .replaceAll('Ö', 'OE')
    .replaceAll('Ü', 'UE')
    .replaceAll('ß', 'SS')
    .replaceAll('Æ', 'AE')
    .replaceAll('Ø', 'OE')
    .replaceAll('Å', 'AA')
    .replaceAll('Ł', 'L')
    .normalize('NFD')
    .replaceAll(/[^A-Z0-9]/g, '');
}
