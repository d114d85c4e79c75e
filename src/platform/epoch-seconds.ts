/** Whole seconds since the epoch, UTC: the format of times in the public API. */
export function epochSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
