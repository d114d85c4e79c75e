/** Values of load indexes and speed symbols. Source: ETRTO Standards Manual, General Information; ISO 4000-1, annexes. */
import type { SPEED_INDEXES } from '../../contracts/vocabulary/tires.ts';

export type SpeedIndex = (typeof SPEED_INDEXES)[number];

/** Kilograms for the load indexes 160 to 239. Every 80 indexes multiply the load by ten. */
const DECADE = [
  4500, 4625, 4750, 4875, 5000, 5150, 5300, 5450, 5600, 5800, 6000, 6150, 6300, 6500, 6700, 6900, 7100, 7300, 7500,
  7750, 8000, 8250, 8500, 8750, 9000, 9250, 9500, 9750, 10_000, 10_300, 10_600, 10_900, 11_200, 11_500, 11_800, 12_150,
  12_500, 12_850, 13_200, 13_600, 14_000, 14_500, 15_000, 15_500, 16_000, 16_500, 17_000, 17_500, 18_000, 18_500,
  19_000, 19_500, 20_000, 20_600, 21_200, 21_800, 22_400, 23_000, 23_600, 24_300, 25_000, 25_750, 26_500, 27_250,
  28_000, 29_000, 30_000, 30_750, 31_500, 32_500, 33_500, 34_500, 35_500, 36_500, 37_500, 38_750, 40_000, 41_250,
  42_500, 43_750,
] as const;
const FIRST = 160;
const MOST = 279;

/** Returns kilograms, or null if the number is not a load index. Below 1,000 kg the table truncates to three digits. */
export function maximumLoadKg(loadIndex: number): number | null {
  if (!Number.isInteger(loadIndex) || loadIndex < 0 || loadIndex > MOST) return null;
  const place = loadIndex % DECADE.length;
  const exact = (DECADE[place] ?? 0) * 10 ** ((loadIndex - place - FIRST) / DECADE.length);
  const unit = exact >= 100 ? 1 : 0.1;
  return Number((Math.floor(exact / unit + 1e-6) * unit).toFixed(1));
}

/** Null if the symbol states no limit. */
export const MAXIMUM_SPEEDS_KMH: Readonly<Record<SpeedIndex, number | null>> = {
  J: 100,
  K: 110,
  L: 120,
  M: 130,
  N: 140,
  P: 150,
  Q: 160,
  R: 170,
  S: 180,
  T: 190,
  U: 200,
  H: 210,
  V: 240,
  W: 270,
  Y: 300,
  '(Y)': null,
  ZR: null,
};

/** A letter that may follow a load index. */
export function isSpeedSymbol(letter: string): letter is Exclude<SpeedIndex, 'ZR' | '(Y)'> {
  return letter.length === 1 && letter in MAXIMUM_SPEEDS_KMH;
}
