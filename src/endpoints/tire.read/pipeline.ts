/**
 * Picture → lines of print on a sidewall → what they say. Lettering that runs around the tire is read as far as a straight
 * line follows it. The name of the model is not told: nothing sets it apart from other words.
 */
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createPictureJudge } from '../../inference/pipelines/picture-judge.ts';
import { joinRows } from '../../inference/pipelines/print-rows.ts';
import { createTextReader } from '../../inference/pipelines/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { readRows } from './read-rows.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  task: 'tire-reading',
  create: (model) => {
    const readText = createTextReader(model);
    const judge = createPictureJudge(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const readings = readRows(joinRows(await readText(picture)));
      const { quality_issues } = await judge(picture);
      return applyParameters({ position: null, ...readings, model: null, quality_issues }, parameters);
    };
  },
};
