/** The same tensor for every job, so that only the run of the network and the way to it take time. */

import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  task: 'convolution',
  create: (model) => {
    const { name, size, prepare } = createPictureInput(model, 'network');
    const { tensor } = prepare({ ...size, pixels: new Uint8Array(3 * size.width * size.height).fill(128) });
    return async () => {
      const outputs = await model.run('network', { [name]: tensor });
      return { scores: outputs.floats('scores').data.length };
    };
  },
};
