/** The same tensor for every job, so that only the run of the network and the way to it take time. */

import { inputSize } from '../../../../src/inference/models/settings.ts';
import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['convolution'],
  create: (model) => {
    const { name, prepare } = createPictureInput(model, 'network');
    const size = inputSize(model, 'network', name);
    const { tensor } = prepare({ ...size, pixels: new Uint8Array(3 * size.width * size.height).fill(128) });
    return async () => {
      const outputs = await model.run('network', { [name]: tensor });
      return { scores: outputs.floats('scores').data.length };
    };
  },
};
