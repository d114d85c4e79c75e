/** A pipeline for tests of how files reach it: adds up the widths of as many of its pictures as the request says. */
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  create: () => {
    return async ({ pictures, parameters }) => {
      let sum = 0;
      for (const picture of pictures.slice(0, Number(parameters.first))) sum += (await picture.decode()).width;
      return { sum, environment: pictures.map(({ timeOffsetMs }) => String(timeOffsetMs)) };
    };
  },
};
