/**
 * Picture → lines of text on a sidewall → tire data. Curved lettering is read as far as a straight line follows it. The
 * model name stays null: nothing distinguishes it from other words.
 */
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { joinRows } from '../../inference/toolkit/text/print-rows.ts';
import { createTextReader, PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { readRows } from './read-rows.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['tire-reading', PRINT_READING],
  create: (model) => {
    const readText = createTextReader(model);
    const assess = createPictureAssessor(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const readings = readRows(joinRows(await readText(picture)));
      const { quality_issues } = await assess(picture);
      return applyParameters({ position: null, ...readings, model: null, quality_issues }, parameters);
    };
  },
};
