const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?$/;

/** A day or an instant of ISO 8601, as an operator types it; null for anything else, 30 February included. */
export function parseIsoTime(text: string): Date | null {
  const day = ISO_TIME.exec(text)?.[1];
  const time = new Date(text);
  if (day === undefined || Number.isNaN(time.getTime())) return null;
  // A date that does not exist is taken for one of the next month.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? time : null;
}
