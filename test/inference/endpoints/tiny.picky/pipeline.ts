/** Asks for the same models as `tiny.add`, and takes only those with a threshold. */
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  create: (model) => {
    const { picky } = model.manifest.thresholds ?? {};
    if (picky === undefined) throw new Error('thresholds.picky is missing from model.json');
    return async () => ({ sum: picky, environment: [] });
  },
};
