/** Compares readings with what pictures show. Counts first, shares later; nothing here reads a picture. */

/** A value that a picture shows, such as the VIN or one field of a document. Texts are compared as they are. */
export interface Shown {
  name: string;
  text: string;
  /** How it may be printed, where that is not the text: the forms of a date. Empty for what print only implies. */
  printed?: readonly string[];
}

export interface ReadValue {
  name: string;
  text: string;
  /** 0 to 1. */
  confidence: number;
}

/** Of a character that was not recognised, in the text of a reading. */
const UNKNOWN = '?';

export interface Verdict {
  name: string;
  /** `unknown`: some characters are `?`. `null`: not read. `invented`: read, but not shown. */
  kind: 'exact' | 'wrong' | 'unknown' | 'null' | 'invented';
  /** Null where nothing is shown, or nothing read. */
  shown: string | null;
  read: string | null;
  /** Of the reading; null without one. */
  confidence: number | null;
  /** Characters shown, and the edits from them to those read: all of them for `null`, none for `invented`. */
  characters: number;
  edits: number;
}

/** What one reader made of one set, as `--json` keeps it. */
export interface Outcome {
  endpoint: string;
  /** Model that serves the endpoint. */
  version: string;
  set: { name: string; source: 'drawings' | 'photographs' };
  reader: string;
  pictures: number;
  /** Pictures that show none of what the endpoint reads. */
  negatives: number;
  verdicts: Verdict[];
  /** CPU time of a picture on one core. */
  milliseconds: number;
}

/** Readings that differ in more of their characters are readings of something else, where a picture may show several. */
const MOST_EDITED = 0.5;

/**
 * One verdict for each value that is shown and for each reading beyond them. Equal texts are paired first, then the most
 * similar ones of a name.
 * @param several names of which a picture may show several values, such as plates
 */
export function judge(
  shown: readonly Shown[],
  readings: readonly ReadValue[],
  several: ReadonlySet<string> = new Set(),
): Verdict[] {
  const [left, open] = [[...readings], [...shown]];
  const verdicts: Verdict[] = [];
  const pairs = shown
    .flatMap((truth) =>
      readings.flatMap((reading) =>
        reading.name === truth.name ? [{ truth, reading, edits: editDistance(truth.text, reading.text) }] : [],
      ),
    )
    .toSorted((a, b) => a.edits - b.edits);
  for (const { truth, reading, edits } of pairs) {
    if (!left.includes(reading) || !open.includes(truth)) continue;
    if (several.has(truth.name) && edits > MOST_EDITED * truth.text.length) continue;
    left.splice(left.indexOf(reading), 1);
    open.splice(open.indexOf(truth), 1);
    const kind = edits === 0 ? 'exact' : reading.text.includes(UNKNOWN) ? 'unknown' : 'wrong';
    const { name, text: read, confidence } = reading;
    verdicts.push({ name, kind, shown: truth.text, read, confidence, characters: truth.text.length, edits });
  }
  for (const { name, text } of open) {
    verdicts.push({
      name,
      kind: 'null',
      shown: text,
      read: null,
      confidence: null,
      characters: text.length,
      edits: text.length,
    });
  }
  for (const { name, text: read, confidence } of left) {
    verdicts.push({ name, kind: 'invented', shown: null, read, confidence, characters: 0, edits: 0 });
  }
  return verdicts;
}

/**
 * Whether each value is among lines of text, which say nothing of its name: as whole words of one line, of which only letters
 * and digits count. An upper bound, because nothing has to pick it out.
 */
export function judgeLines(shown: readonly Shown[], lines: readonly string[]): Verdict[] {
  return shown.flatMap(({ name, text, printed = [text] }): Verdict[] => {
    const wanted = printed.map((spelling) => wordsOf(spelling).join(''));
    if (wanted.length === 0) return [];
    // A unit may stand right behind a number.
    const isNumber = wanted.every((spelling) => /^\d+$/.test(spelling));
    const words = lines.map((line) => (isNumber ? (line.match(/\d+/g) ?? []) : wordsOf(line)));
    const edits = Math.min(
      ...wanted.map((spelling) =>
        words.some((line) => hasRun(line, spelling))
          ? 0
          : Math.min(spelling.length, ...words.map((line) => Math.max(1, editsWithin(spelling, line.join(''))))),
      ),
    );
    const characters = wanted[0]?.length ?? 0;
    const kind = edits === 0 ? 'exact' : 'null';
    return [{ name, kind, shown: text, read: null, confidence: null, characters, edits }];
  });
}

function wordsOf(text: string): string[] {
  return text.toUpperCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether neighbouring words spell a text. */
function hasRun(words: readonly string[], text: string): boolean {
  return words.some((_, start) => {
    let spelt = '';
    for (let end = start; end < words.length && spelt.length < text.length; end += 1) spelt += words[end] ?? '';
    return spelt === text;
  });
}

/** Source: Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", 1966. */
export function editDistance(from: string, to: string): number {
  return edits(from, to, false);
}

/** To the most similar part of a text. Source: Sellers, "The theory and computation of evolutionary distances", 1980. */
export function editsWithin(from: string, text: string): number {
  return edits(from, text, true);
}

function edits(from: string, to: string, isWithin: boolean): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => (isWithin ? 0 : column));
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] as number) + Number(from[index] !== to[column - 1]);
      next.push(Math.min(replaced, (row[column] as number) + 1, (next[column - 1] as number) + 1));
    }
    row = next;
  }
  return isWithin ? Math.min(...row) : (row.at(-1) as number);
}

export interface Tally {
  shown: number;
  exact: number;
  wrong: number;
  unknown: number;
  null: number;
  invented: number;
  /** Edits ÷ characters shown; NaN when nothing is shown. */
  characterErrorRate: number;
}

export function tally(verdicts: readonly Verdict[]): Tally {
  const count = (kind: Verdict['kind']) => verdicts.filter((each) => each.kind === kind).length;
  const sum = (key: 'edits' | 'characters') => verdicts.reduce((total, each) => total + each[key], 0);
  return {
    shown: verdicts.length - count('invented'),
    exact: count('exact'),
    wrong: count('wrong'),
    unknown: count('unknown'),
    null: count('null'),
    invented: count('invented'),
    characterErrorRate: sum('edits') / sum('characters'),
  };
}

export interface Bucket {
  /** Confidences from here up to the next bucket; the last one includes 1. */
  from: number;
  readings: number;
  right: number;
  meanConfidence: number;
}

export interface Reliability {
  buckets: Bucket[];
  /** Mean gap between confidence and share of right readings, weighted by readings; NaN without any. */
  expectedCalibrationError: number;
}

const BUCKETS = [0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];

/**
 * Whether readings are right as often as their confidences say. Those with unknown characters do not count: they say
 * themselves that they are not whole.
 * Source: Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", ICML 2017.
 */
export function reliabilityOf(verdicts: readonly Verdict[]): Reliability {
  const read = verdicts.filter(({ kind, confidence }) => confidence !== null && kind !== 'unknown');
  const buckets = BUCKETS.flatMap((from, index): Bucket[] => {
    const to = BUCKETS[index + 1] ?? Number.POSITIVE_INFINITY;
    const own = read.filter(({ confidence }) => (confidence ?? 0) >= from && (confidence ?? 0) < to);
    if (own.length === 0) return [];
    const right = own.filter(({ kind }) => kind === 'exact').length;
    const sum = own.reduce((total, { confidence }) => total + (confidence ?? 0), 0);
    return [{ from, readings: own.length, right, meanConfidence: sum / own.length }];
  });
  const gaps = buckets.map(({ readings, right, meanConfidence }) => Math.abs(right - meanConfidence * readings));
  return { buckets, expectedCalibrationError: gaps.reduce((sum, gap) => sum + gap, 0) / read.length };
}

/** Calibration error and the table of `reliabilityOf`, in Markdown; null without readings. */
export function reliabilityText(verdicts: readonly Verdict[]): string | null {
  const { buckets, expectedCalibrationError } = reliabilityOf(verdicts);
  if (buckets.length === 0) return null;
  const rows = buckets.map(({ from, readings, right, meanConfidence }, index) => {
    const to = buckets[index + 1] ? `${from} and more` : `${from} to 1`;
    return [to, meanConfidence.toFixed(3), shareText(right, readings)];
  });
  const table = tableText([['Confidence', 'Mean', 'Right'], ...rows]);
  return `expected calibration error ${expectedCalibrationError.toFixed(3)}\n\n${table}\n`;
}

/** 95 % of a normal distribution lies within this many standard deviations. */
const Z = 1.96;

/**
 * Interval of a share at 95 %. Unlike the normal approximation it is sound near 0 and 1 and for few cases.
 * Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 */
export function wilsonInterval(hits: number, of: number): { low: number; high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const share = hits / of;
  const spread = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / spread;
  const half = (Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2))) / spread;
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** `12 of 40: 30 % (18 to 45)`, with the Wilson interval. */
export function shareText(hits: number, of: number): string {
  if (of === 0) return '–';
  const percent = (value: number) => (100 * value).toFixed(0);
  const { low, high } = wilsonInterval(hits, of);
  return `${hits} of ${of}: ${percent(hits / of)} % (${percent(low)} to ${percent(high)})`;
}

/** A table in Markdown. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}
