/** Numbers and times as people read them, in their own language. */
const number = new Intl.NumberFormat();
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export const formatNumber = (value: number) => number.format(value);
export const formatCredits = (value: number) =>
  `${number.format(value)} ${Math.abs(value) === 1 ? 'credit' : 'credits'}`;
export const formatTime = (epochSeconds: number | null) =>
  epochSeconds === null ? '–' : time.format(new Date(epochSeconds * 1_000));
/** `date` as in ISO 8601. */
export const formatDay = (date: string) => day.format(new Date(date));
export const formatBytes = (bytes: number) =>
  bytes < 1_000_000
    ? `${number.format(Math.ceil(bytes / 1_000))} kB`
    : `${number.format(Math.round(bytes / 100_000) / 10)} MB`;

/** `front_wheel` as `front wheel`. */
export const inWords = (name: string) => name.replaceAll(/[_.]/g, ' ');
export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
export const modeOf = ({ livemode, is_staging }: { livemode: boolean; is_staging: boolean }) =>
  is_staging ? 'staging' : livemode ? 'live' : 'test';
