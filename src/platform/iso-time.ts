const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads the time that a command-line option states. @throws Error that says what is wrong with it */
export function readTimeOption(option: string, text: string | undefined): Date {
  const time = text === undefined ? null : parseIsoTime(text);
  if (time !== null) return time;
  const fault = text === undefined ? 'it is missing' : `"${text}" is not one`;
  throw new Error(
    `${option} must be an ISO 8601 day or instant, such as 2026-12-01 or 2026-12-01T09:30:00Z; ${fault}.`,
  );
}

/** Parses an ISO 8601 day or instant, down to milliseconds. Returns null for anything else, 30 February included. */
export function parseIsoTime(text: string): Date | null {
  const day = ISO_TIME.exec(text)?.[1];
  const time = new Date(text);
  if (day === undefined || Number.isNaN(time.getTime())) return null;
  // JavaScript reads a date that does not exist as one of the next month.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? time : null;
}
