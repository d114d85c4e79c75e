/** Postprocessing: network outputs → result, by the thresholds of `model.json` and the request's parameters. */
import { clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { indexOfMaximum } from '../../inference/toolkit/decoding/classification.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Reading } from './reading.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import type { Settings } from './settings.ts';

type WarningLight = NonNullable<Result['warning_lights']>[number];

export function toResult(reading: Reading, settings: Settings, parameters: Parameters): Result {
  const lamps = litLamps(reading.lamps, settings);
  const clusterLit = isLit(reading, lamps, settings);
  const fuel = clusterLit ? sureFuel(reading.fuel, settings) : null;
  const result: Result = {
    cluster_lit: clusterLit,
    odometer: reading.odometer && odometerOf(reading.odometer),
    // An unpowered cluster shows no lamps, and its needles rest at zero.
    warning_lights: clusterLit ? lamps : [],
    fuel_level_percent: fuel && Math.round(clamp(fuel.level, 0, 1) * 100),
    fuel_level_confidence: fuel && clamp(fuel.confidence, 0, 1),
  };
  return applyParameters(result, parameters);
}

/** A readable digital display or a clearly lit lamp proves power, whatever the locator says. */
function isLit({ lit, odometer }: Reading, lamps: readonly WarningLight[], { thresholds }: Settings): boolean | null {
  if (odometer?.label === 'odometer_digital') return true;
  if (lit === null) return null;
  return lit >= thresholds.lit || lamps.some(({ confidence }) => confidence >= thresholds.litProof);
}

/** The confidence combines the agreement between the crops with each crop's weakest character. */
function odometerOf({ value, unit, label, confidence, box }: NonNullable<Reading['odometer']>): Result['odometer'] {
  return {
    value,
    unit,
    display_type: label === 'odometer_analogue' ? 'analogue' : 'digital',
    confidence: clamp(confidence, 0, 1),
    bbox: toBoundingBox(box),
  };
}

/** Most confident first; the confidence is the box's score × the probability of its class. */
function litLamps(lamps: Reading['lamps'], { thresholds, files }: Settings): WarningLight[] {
  return lamps
    .flatMap(({ box, score, probabilities }): WarningLight[] => {
      const best = indexOfMaximum(probabilities);
      const probability = probabilities[best] ?? 0;
      const lamp = files.lamps.labels[best];
      // Only class 0, "not a lit lamp", has no severity.
      if (!lamp?.severity || probability < thresholds.lampClass) return [];
      const { code, label, severity } = lamp;
      return [{ code, label, severity, confidence: clamp(score * probability, 0, 1), bbox: toBoundingBox(box) }];
    })
    .sort((a, b) => b.confidence - a.confidence);
}

function sureFuel(fuel: Reading['fuel'], { thresholds }: Settings): Reading['fuel'] {
  return fuel && fuel.confidence >= thresholds.fuelConfidence ? fuel : null;
}
