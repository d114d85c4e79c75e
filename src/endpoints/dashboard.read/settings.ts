/** The numbers and names that the pipeline takes from its model's `model.json`. */
import { Type } from 'typebox';

const probability = Type.Number({ minimum: 0, maximum: 1 });
const share = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 1 });

const thresholds = Type.Object({
  /** Best score of the locator below which the picture shows no instrument cluster. */
  presence: probability,
  lit: probability,
  /** Confidence of a lamp that proves power, whatever the locator says. */
  litProof: probability,
  /** Least scores of the element boxes. */
  odometer: probability,
  lamp: probability,
  fuel: probability,
  /** Least probability of the best class of a lamp. */
  lampClass: probability,
  fuelConfidence: probability,
  /** Least probability of the weakest character of a view of an odometer. */
  character: probability,
  /** Least confidence of an odometer: what its views agree on. */
  odometerText: probability,
});

const rules = Type.Object({
  /** Share of its size by which the cluster's box grows on each side. */
  clusterMargin: share,
  /** Side of a square crop, as a multiple of the box's longer side. */
  lampSide: Type.Number({ exclusiveMinimum: 0 }),
  fuelSide: Type.Number({ exclusiveMinimum: 0 }),
  line: Type.Object({ minimumWidth: count, maximumWidth: count, multipleOf: count }),
  /** The crops an odometer is read from: shares of its width and height by which its box grows on each side. */
  odometerViews: Type.Array(Type.Array(share, { minItems: 2, maxItems: 2 }), { minItems: 1 }),
  /** Regular expression of an odometer's text: group 1 the digits, group 3 the unit. */
  odometerPattern: Type.String({ minLength: 1 }),
  /** Intersection over union above which the weaker of two boxes of a kind is dropped. */
  overlap: probability,
  odometerCandidates: count,
  maximumLamps: count,
});

/** Class 0 means "not a lit lamp" and has no severity. */
const lampLabel = Type.Object({
  code: Type.String(),
  label: Type.String(),
  severity: Type.Union([Type.Enum(['info', 'advisory', 'stop']), Type.Null()]),
});

export const settings = Type.Object({
  thresholds,
  rules,
  files: Type.Object({
    elements: Type.Object({
      labels: Type.Array(Type.Enum(['odometer_digital', 'odometer_analogue', 'fuel_gauge', 'lamp'])),
    }),
    lamps: Type.Object({ labels: Type.Array(lampLabel, { minItems: 2 }) }),
  }),
});

export type Settings = Type.Static<typeof settings>;

/** @throws Error when `model.json` has no valid regular expression there */
export function odometerPattern({ odometerPattern: source }: Settings['rules']): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw new Error(`rules.odometerPattern is not a regular expression: ${(error as Error).message}`);
  }
}
