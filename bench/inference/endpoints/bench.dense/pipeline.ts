/** A picture through a network of the benchmark. */

import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import { onlyPicture, type PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['dense'],
  create: (model) => {
    const input = createPictureInput(model, 'network');
    return async ({ pictures }) => {
      const picture = await onlyPicture(pictures);
      const outputs = await model.run('network', { [input.name]: input.prepare(picture).tensor });
      return { scores: outputs.floats('scores').data.length };
    };
  },
};
