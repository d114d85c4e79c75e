/**
 * How a registration number is composed, as a country's rules state it. Formats are written as on the plate:
 * `L` a letter, `D` a digit, `C` a code of the district of issue, `[12]` one of these, `L{1,2}` one or two; a space stands
 * between groups. Between groups a plate may show a dash, a seal, an emblem or nothing.
 */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

export interface CountryGrammar {
  /** ISO 3166-1 alpha-2; null for formats of no country. */
  country: string | null;
  /** ISO 3166-2, for formats that one state or province issues. */
  region?: string;
  /** Letters that the serial uses; A to Z by default. */
  letters?: string;
  /** Codes of districts, which may use other letters than the serial. */
  codes?: readonly string[];
  /** ISO 3166-2 by code of the district of issue; null where the code does not tell. */
  regionOf?: (code: string) => string | null;
  formats: readonly string[];
  /**
   * What a line must show besides the format, for formats that other print often has. `separator`: a dash, seal or gap after
   * the first group. `separators`: one between all groups. `origin`: the country's letters or the state's name beside it.
   */
  needs?: Need;
}

export type Need = 'separator' | 'separators' | 'origin';

/**
 * What stands on a plate and has no format that is listed: chosen by its owner, of another country, of another time. Each
 * character is a group, because separators may stand anywhere.
 */
export const UNLISTED: CountryGrammar = {
  country: null,
  formats: [4, 5, 6, 7, 8].map((length) => Array<string>(length).fill(`[${LETTERS}${DIGITS}]`).join(' ')),
};

/** One format, without alternatives. */
export interface Format extends Pick<CountryGrammar, 'country' | 'region' | 'regionOf' | 'needs'> {
  /** For each group the characters allowed at each of its positions. */
  groups: readonly (readonly string[])[];
  /** The codes that the first group may spell; null if it spells none. */
  codes: readonly string[] | null;
  /** Without spaces. */
  length: number;
}

export function formatsOf(grammars: readonly CountryGrammar[]): Format[] {
  return grammars.flatMap((grammar) => grammar.formats.flatMap((format) => expand(grammar, format)));
}

function expand(grammar: CountryGrammar, written: string): Format[] {
  const counted = /(.)\{(\d),(\d)\}/.exec(written);
  if (counted) {
    const [whole, symbol = '', least, most] = counted;
    const counts = Array.from({ length: Number(most) - Number(least) + 1 }, (_, index) => Number(least) + index);
    return counts.flatMap((count) => expand(grammar, written.replace(whole, symbol.repeat(count))));
  }
  const { codes = [], letters = LETTERS, country, region, regionOf, needs } = grammar;
  const rest = { country, ...(region && { region }), ...(regionOf && { regionOf }), ...(needs && { needs }) };
  const allowed: Record<string, string> = { L: letters, D: DIGITS };
  const placesOf = (group: string) =>
    [...group.matchAll(/\[(\w+)\]|(\w)/g)].map(([, set, at = '']) => set ?? allowed[at] ?? at);
  const groupsOf = (format: string) => format.split(' ').map(placesOf);
  const toFormat = (groups: string[][], ofLength: readonly string[] | null): Format => ({
    ...rest,
    groups,
    codes: ofLength,
    length: groups.flat().length,
  });
  if (!written.startsWith('C ')) return [toFormat(groupsOf(written), null)];
  const lengths = [...new Set(codes.map((code) => code.length))];
  return lengths.map((length) => {
    const ofLength = codes.filter((code) => code.length === length);
    const places = Array.from({ length }, (_, index) => [...new Set(ofLength.map((code) => code[index]))].join(''));
    return toFormat([places, ...groupsOf(written.slice(2))], ofLength);
  });
}
