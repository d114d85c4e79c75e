/** Not fitted yet: confidences are those of the networks. `npm run -s models:calibrate` (training/calibrate.ts) writes this file. */
import type { Calibration } from '../../inference/toolkit/calibration.ts';

export const CALIBRATION: Calibration = { model: 'print-reader@2026-11-22', slope: 1, offset: 0 };
