/** The outputs of the pipeline's networks before thresholds. */
import type { Box } from '../../inference/toolkit/decoding/boxes.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import type { OdometerText } from './odometer-text.ts';
import type { Settings } from './settings.ts';

export type ElementLabel = Settings['files']['elements']['labels'][number];

/** A box in pixels of the original picture, with its score. */
export interface Element {
  box: Box;
  score: number;
  label: ElementLabel;
}

/** Boxes are in pixels of the original picture. */
export interface Reading {
  /** All print in the picture. */
  lines: readonly PrintedLine[];
  /** Probability that the cluster has power; null if the locator sees no cluster, and then only print tells more. */
  lit: number | null;
  /** Chosen between the cluster's own reading and print. */
  odometer: (Element & OdometerText & { confidence: number }) | null;
  /** With the probability of each lamp class. */
  lamps: (Element & { probabilities: Float32Array })[];
  /** Level from 0 (empty) to 1 (full), and the probability that it is within 0.08 of the true level. */
  fuel: { level: number; confidence: number } | null;
}
