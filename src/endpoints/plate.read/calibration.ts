/** Not fitted yet: confidences are those of the networks. `npm run -s models:calibrate` (training/calibrate.ts) writes this file. */
import type { Calibration } from '../../inference/toolkit/calibration.ts';

export const CALIBRATION: Calibration = { model: 'plate-finder@2026-11-23', slope: 1, offset: 0 };
