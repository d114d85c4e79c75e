/** A pipeline for tests of executors and backends: adds one to the picture's width, or misbehaves as it is told. */
import type { PipelineDefinition } from '../../../../src/inference/pipeline.ts';

export const pipeline: PipelineDefinition = {
  task: 'adding-one',
  create: (model) => {
    return async ({ images, parameters }) => {
      if (parameters.behaviour === 'hang') await new Promise(() => undefined);
      if (parameters.behaviour === 'spin') for (;;);
      if (parameters.behaviour === 'crash') process.kill(process.pid, 'SIGKILL');
      if (parameters.behaviour === 'throw') throw new Error('a secret of the inside');
      if (parameters.behaviour === 'break_schema') return { sum: 'many' };
      const width = images[0]?.width ?? 0;
      const outputs = await model.run('tiny', { x: { data: Float32Array.of(width), shape: [1] } });
      return { sum: outputs.floats('y').data[0], environment: Object.keys(process.env) };
    };
  },
};
