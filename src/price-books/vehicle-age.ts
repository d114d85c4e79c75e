/**
 * Years from the first registration to a day, at least 0. Without a month, the middle of the year stands for it. Pure.
 * @param day ISO 8601 day
 * @param month from 1
 */
export function ageYears(day: string, { year, month }: { year: number; month: number | null }): number {
  const [dayYear = 0, dayMonth = 1, dayOfMonth = 1] = day.split('-').map(Number);
  const now = dayYear + (dayMonth - 1 + (dayOfMonth - 1) / 31) / 12;
  const registered = year + (month === null ? 0.5 : (month - 0.5) / 12);
  return Math.max(0, now - registered);
}
