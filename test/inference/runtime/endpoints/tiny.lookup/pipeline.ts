/** Looks up each index of the request in a run of its own, all at once: what a table lacks is null. */
import type { PipelineDefinition } from '../../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['looking-up'],
  create:
    (model) =>
    async ({ parameters }) => {
      const runs = (parameters.indices as number[]).map(async (index) => {
        const outputs = await model.run('lookup', { index: { data: BigInt64Array.of(BigInt(index)), shape: [1, 1] } });
        return outputs.floats('value').data[0];
      });
      const settled = await Promise.allSettled(runs);
      return { values: settled.map((run) => (run.status === 'fulfilled' ? run.value : null)) };
    },
};
