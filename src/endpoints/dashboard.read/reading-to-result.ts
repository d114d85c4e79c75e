/** Postprocessing: what the networks say → the result, by the thresholds of `model.json` and the request's parameters. */
import { clamp, toBoundingBox } from '../../inference/decoding/boxes.ts';
import { indexOfMaximum } from '../../inference/decoding/ctc.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Reading } from './pipeline.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import type { Settings } from './settings.ts';

type WarningLight = Result['warning_lights'][number];

export function toResult(reading: Reading, settings: Settings, parameters: Parameters): Result {
  const lamps = litLamps(reading.lamps, settings);
  const clusterLit = isLit(reading, lamps, settings);
  const result: Result = {
    cluster_lit: clusterLit,
    odometer: reading.odometer && odometerOf(reading.odometer),
    // A cluster without power shows no lamps, and its needles rest.
    warning_lights: clusterLit ? lamps : [],
    fuel_level_percent: clusterLit ? fuelPercent(reading.fuel, settings) : null,
  };
  return applyParameters(result, parameters);
}

/** A display that can be read, or a lamp that clearly shines, proves power, whatever the cluster looks like. */
function isLit({ lit, odometer }: Reading, lamps: readonly WarningLight[], { thresholds }: Settings): boolean | null {
  if (lit === null) return null;
  return (
    lit >= thresholds.lit ||
    odometer?.label === 'odometer_digital' ||
    lamps.some(({ confidence }) => confidence >= thresholds.litProof)
  );
}

/** Its confidence says how far the views of the display agree, and how certain each is of its weakest character. */
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
      // Class 0, "not a lit lamp", is the one without a severity.
      if (!lamp?.severity || probability < thresholds.lampClass) return [];
      const { code, label, severity } = lamp;
      return [{ code, label, severity, confidence: clamp(score * probability, 0, 1), bbox: toBoundingBox(box) }];
    })
    .sort((a, b) => b.confidence - a.confidence);
}

function fuelPercent(fuel: Reading['fuel'], { thresholds }: Settings): number | null {
  if (!fuel || fuel.confidence < thresholds.fuelConfidence) return null;
  return Math.round(clamp(fuel.level, 0, 1) * 100);
}
