/** Picture → its plates, read. */
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { findReadingIssues } from '../../inference/toolkit/quality/reading-issues.ts';
import { PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { createPlateReader } from '../shared/plate-reader.ts';
import { CALIBRATION } from './calibration.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['plate-detection', PRINT_READING],
  create: (model) => {
    const readPlates = createPlateReader(model);
    const calibrate = createCalibration(model, CALIBRATION);
    // Country and region have confidences of their own.
    const isOrigin = (reading: object) => 'value' in reading;
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const { plates, lines } = await readPlates(picture, parameters);
      const print = { read: plates.map(({ quad }) => quad), lines };
      const quality_issues = findReadingIssues(picture, print, plates.length === 0 ? 'no_plate' : null);
      return { plates: calibrateReadings(plates, calibrate, isOrigin), quality_issues };
    };
  },
};
