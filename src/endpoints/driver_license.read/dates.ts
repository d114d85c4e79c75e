/** Dates as licences print and encode them → ISO 8601. */

const DAY_FIRST = /\b(\d{2})[.,/\- ]{1,2}(\d{2})[.,/\- ]{1,2}(\d{4}|\d{2})\b/;
const YEAR_FIRST = /\b(\d{4})[.,/-](\d{2})[.,/-](\d{2})\b/;
/** Canadian provinces spell the month: 2021-AUG-12. */
const SPELLED = /\b(\d{4})[ /-]([A-Z]{3})[A-Z]?[ /-](\d{2})\b/i;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
/** Nobody holds a licence earlier: mopeds from 14 on. */
const YOUNGEST = 14;

export interface FoundDate {
  /** Null if there is no such day. */
  iso: string | null;
  from: number;
  to: number;
}

export interface DateOrder {
  /** Whether the month is printed before the day, as in the United States. */
  isMonthFirst?: boolean;
  /** The century of a year of two digits; without it such a date is not certain. */
  centuryOf?: (year: number) => number;
}

/** Licences are issued and expire in this one. */
export const thisCentury = () => 20;

/** Of the year of birth of somebody who holds a licence in the given year: a hundred years later nobody is old enough. */
export const centuryOfBirth = (yearOfLicense: number) => (year: number) =>
  2000 + year > yearOfLicense - YOUNGEST ? 19 : 20;

/** The first date in a text. */
export function findDate(text: string, { isMonthFirst = false, centuryOf }: DateOrder = {}): FoundDate | null {
  const [match] = [YEAR_FIRST.exec(text), SPELLED.exec(text), DAY_FIRST.exec(text)]
    .filter((found) => found !== null)
    .toSorted((one, other) => one.index - other.index);
  if (!match) return null;
  const [whole, first = '', second = '', third = ''] = match;
  const place = { from: match.index, to: match.index + whole.length };
  if (first.length === 4) return { iso: isoDate(first, monthOf(second), third), ...place };
  const [day, month] = isMonthFirst ? [second, first] : [first, second];
  if (third.length === 4) return { iso: isoDate(third, month, day), ...place };
  const iso = centuryOf ? isoDate(`${centuryOf(Number(third))}${third}`, month, day) : null;
  return { iso, ...place };
}

function monthOf(printed: string): string {
  const index = MONTHS.indexOf(printed.toUpperCase());
  return index < 0 ? printed : String(index + 1).padStart(2, '0');
}

/** Null if there is no such day. */
export function isoDate(year: string, month: string, day: string): string | null {
  const text = `${year}-${month}-${day}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && Number(year) >= 1900 ? text : null;
}
