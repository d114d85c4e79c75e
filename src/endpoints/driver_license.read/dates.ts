/** Dates as licences print and encode them → ISO 8601. */

const DAY_FIRST = /\b(\d{2})[.,/\- ]{1,2}(\d{2})[.,/\- ]{1,2}(\d{4}|\d{2})\b/;
const YEAR_FIRST = /\b(\d{4})[.,/-](\d{2})[.,/-](\d{2})\b/;

export interface FoundDate {
  /** Null if there is no such day. */
  iso: string | null;
  from: number;
  to: number;
}

export interface DateOrder {
  /** Whether the month is printed before the day, as in the United States. */
  isMonthFirst?: boolean;
  /** The century of years of two digits; without it such a date is not certain. */
  century?: number;
}

/** The first date in a text. */
export function findDate(text: string, { isMonthFirst = false, century }: DateOrder = {}): FoundDate | null {
  const [match] = [YEAR_FIRST.exec(text), DAY_FIRST.exec(text)]
    .filter((found) => found !== null)
    .toSorted((one, other) => one.index - other.index);
  if (!match) return null;
  const [whole, first = '', second = '', third = ''] = match;
  const place = { from: match.index, to: match.index + whole.length };
  if (first.length === 4) return { iso: isoDate(first, second, third), ...place };
  const [day, month] = isMonthFirst ? [second, first] : [first, second];
  if (third.length === 4) return { iso: isoDate(third, month, day), ...place };
  return { iso: century === undefined ? null : isoDate(String(100 * century + Number(third)), month, day), ...place };
}

/** Null if there is no such day. */
export function isoDate(year: string, month: string, day: string): string | null {
  const text = `${year}-${month}-${day}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && Number(year) >= 1900 ? text : null;
}
