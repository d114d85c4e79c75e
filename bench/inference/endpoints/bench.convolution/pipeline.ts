/** A picture through a network of the benchmark. */
import { onlyPicture, type PipelineDefinition } from '../../../../src/inference/pipeline.ts';
import { createPictureInput } from '../../../../src/inference/pipelines/picture-input.ts';

export const pipeline: PipelineDefinition = {
  task: 'convolution',
  create: (model) => {
    const input = createPictureInput(model, 'network');
    return async ({ pictures }) => {
      const picture = await onlyPicture(pictures);
      const outputs = await model.run('network', { [input.name]: input.prepare(picture).tensor });
      return { scores: outputs.floats('scores').data.length };
    };
  },
};
