/** Text without case, accents and punctuation, to look up printed labels and words. */

/** Letters that Unicode does not decompose. */
const LIKE: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', ø: 'o', ł: 'l', đ: 'd', œ: 'oe', ı: 'i' };
/** From this length on, one character of a phrase may be misread. */
const LONG_PHRASE = 9;

export interface FoldedText {
  /** Words of a–z, other scripts and 0–9, with one space between them. */
  folded: string;
  /** For each character of `folded`, its index in the text. */
  places: readonly number[];
}

export function foldText(text: string): FoldedText {
  let folded = '';
  const places: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charAt(index).toLowerCase();
    const plain = (LIKE[letter] ?? letter).normalize('NFD').replace(/\p{M}/gu, '');
    const kept = /^[\p{L}\p{N}]+$/u.test(plain) ? plain : ' ';
    if (kept === ' ' && (folded === '' || folded.endsWith(' '))) continue;
    folded += kept;
    places.push(...Array.from({ length: kept.length }, () => index));
  }
  const length = folded.trimEnd().length;
  return { folded: folded.slice(0, length), places: places.slice(0, length) };
}

export function fold(text: string): string {
  return foldText(text).folded;
}

/** Whether a folded phrase of whole words stands at this place; in a long one, one character may differ. */
export function standsAt(folded: string, place: number, phrase: string): boolean {
  const end = place + phrase.length;
  if (end > folded.length || (end < folded.length && folded.charAt(end) !== ' ')) return false;
  let spare = phrase.length >= LONG_PHRASE ? 1 : 0;
  for (let index = 0; index < phrase.length; index += 1) {
    if (folded.charAt(place + index) === phrase.charAt(index)) continue;
    if (spare === 0) return false;
    spare -= 1;
  }
  return true;
}

/** Places where a word starts. */
export function wordStarts(folded: string): number[] {
  return [...folded.matchAll(/\S+/g)].map(({ index }) => index);
}

export function mentions(folded: string, phrase: string): boolean {
  return wordStarts(folded).some((place) => standsAt(folded, place, phrase));
}
