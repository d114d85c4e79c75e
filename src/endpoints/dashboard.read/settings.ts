/** The settings that the pipeline reads from `model.json`. */
import { Type } from 'typebox';

const probability = Type.Number({ minimum: 0, maximum: 1 });
const share = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 1 });

const thresholds = Type.Object({
  /** Locator score below which the picture shows no instrument cluster. */
  presence: probability,
  lit: probability,
  /** Confidence of a lamp that proves power, whatever the locator says. */
  litProof: probability,
  /** Minimum scores of the element boxes. */
  odometer: probability,
  lamp: probability,
  fuel: probability,
  /** Minimum probability of a lamp's best class. */
  lampClass: probability,
  fuelConfidence: probability,
  /** Minimum probability of the weakest character in a crop of an odometer. */
  character: probability,
  /** Minimum confidence of the combined odometer reading. */
  odometerText: probability,
});

const rules = Type.Object({
  /** Fraction of its size by which the cluster's box grows on each side. */
  clusterMargin: share,
  /** Side of a square crop, as a multiple of the box's longer side. */
  lampSide: Type.Number({ exclusiveMinimum: 0 }),
  fuelSide: Type.Number({ exclusiveMinimum: 0 }),
  line: Type.Object({ minimumWidth: count, maximumWidth: count, multipleOf: count }),
  /** The crops of an odometer: fractions of its width and height by which its box grows on each side. */
  odometerViews: Type.Array(Type.Array(share, { minItems: 2, maxItems: 2 }), { minItems: 1 }),
  /** Regular expression of odometer text: group 1 holds the digits, group 3 the unit. */
  odometerPattern: Type.String({ minLength: 1 }),
  /** Intersection over union above which the weaker of two boxes of the same kind is dropped. */
  overlap: probability,
  odometerCandidates: count,
  /** Gauges that are looked at, the best boxes first; 1 by default. */
  fuelCandidates: Type.Optional(count),
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

/** @throws Error if the value in `model.json` is not a valid regular expression */
export function odometerPattern({ odometerPattern: source }: Settings['rules']): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw new Error(`rules.odometerPattern is not a regular expression: ${(error as Error).message}`);
  }
}
