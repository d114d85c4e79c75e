/** Adds one to the picture's width, on a model of its own; or waits until it is let go. */
import { once } from 'node:events';
import { onlyPicture, type PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one-too'],
  create: (model) => {
    return async ({ pictures, parameters }) => {
      const { width } = await onlyPicture(pictures);
      if (parameters.behaviour === 'wait') await once(process, 'SIGWINCH');
      const outputs = await model.run('tiny', { x: { data: Float32Array.of(width), shape: [1] } });
      return { sum: outputs.floats('y').data[0], environment: [] };
    };
  },
};
