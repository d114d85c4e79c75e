/**
 * Picture → lines of text on a sidewall → tire data. If lines do not state everything, the sidewall is unrolled and read once
 * more. The model name stays null: nothing distinguishes it from other words.
 */
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { markCutEnds } from '../../inference/toolkit/quality/cut-ends.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { findReadingIssues, mostConfident } from '../../inference/toolkit/quality/reading-issues.ts';
import { joinRows } from '../../inference/toolkit/text/print-rows.ts';
import { createTextReader, PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { readAlongRings } from '../../inference/toolkit/text/unrolled-text.ts';
import { applyParameters } from './apply-parameters.ts';
import { CALIBRATION } from './calibration.ts';
import { isComplete, readRows } from './read-rows.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['tire-reading', PRINT_READING],
  create: (model) => {
    const readText = createTextReader(model);
    const calibrate = createCalibration(model, CALIBRATION);
    const assess = createPictureAssessor(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const lines = markCutEnds(picture, await readText(picture));
      const rows = joinRows(lines);
      const straight = readRows(rows);
      const found = isComplete(straight)
        ? straight
        : readRows([...rows, ...(await readAlongRings(picture, lines, readText))]);
      const isRead = Object.values(found).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null));
      const print = { read: isRead ? lines.map(({ quad }) => quad) : [], lines };
      const measured = findReadingIssues(picture, print, isRead ? null : 'no_tire');
      const quality_issues = mostConfident([...(await assess(picture)).quality_issues, ...measured]);
      const readings = calibrateReadings(found, calibrate);
      return applyParameters({ position: null, ...readings, model: null, quality_issues }, parameters);
    };
  },
};
