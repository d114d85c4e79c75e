/** Test mode has a quarter of the live rate. */
const TEST_MODE_SHARE = 0.25;

/** Requests per minute of an organisation in one mode. */
export function limitPerMinute(livePerMinute: number, livemode: boolean): number {
  return livemode ? livePerMinute : Math.floor(livePerMinute * TEST_MODE_SHARE);
}
