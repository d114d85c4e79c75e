/** Confidences of networks → shares of readings that are right: of readings with 0.9, nine in ten. */
import { versionOf } from '../models/manifest.ts';
import type { Model } from '../models/model.ts';

/**
 * A straight line between log-odds: `log-odds = slope × log-odds of the network + offset`.
 * Source: Platt, "Probabilistic outputs for support vector machines", 1999.
 */
export interface Calibration {
  /** `<model>@<release>` whose readings it was fitted to. Confidences of other models stay as they are. */
  model: string;
  /** Positive: more certain readings stay more certain. */
  slope: number;
  offset: number;
}

/** Confidences this close to 0 and 1 are alike: networks state more certainty than readings can show. */
const LEAST = 1e-4;

export type Calibrate = (confidence: number) => number;

export function createCalibration(model: Model, calibration: Calibration): Calibrate {
  return versionOf(model.manifest) === calibration.model
    ? (confidence) => calibrated(confidence, calibration)
    : (confidence) => confidence;
}

/** 0, which says that nothing is known, stays 0. */
export function calibrated(confidence: number, { slope, offset }: Pick<Calibration, 'slope' | 'offset'>): number {
  if (confidence <= 0) return 0;
  return 1 / (1 + Math.exp(-(slope * logOdds(confidence) + offset)));
}

/** The logarithm of p ÷ (1 − p), within bounds. */
export function logOdds(probability: number): number {
  const bounded = Math.min(1 - LEAST, Math.max(LEAST, probability));
  return Math.log(bounded / (1 - bounded));
}

/**
 * A copy of a result in which the `confidence` of each reading is calibrated. Confidences of single characters stay the
 * network's.
 * @param isOther whether a reading does not come from print, such as one from a bar code
 */
export function calibrateReadings<Result>(
  result: Result,
  calibrate: Calibrate,
  isOther: (reading: object) => boolean = () => false,
): Result {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null || isOther(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        if (key === 'characters') return [key, each];
        return [key, key === 'confidence' && typeof each === 'number' ? calibrate(each) : copy(each)];
      }),
    );
  };
  return copy(result) as Result;
}
