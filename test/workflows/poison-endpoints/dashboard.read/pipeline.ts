/** A pipeline that some pictures hurt, by their width: they end its process, occupy it for good, or take all its memory. */
import { onlyPicture, type PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const ENDING = 13;
export const OCCUPYING = 14;
export const HOARDING = 15;

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  create: () => {
    return async ({ pictures }) => {
      const { width } = await onlyPicture(pictures);
      if (width === ENDING) process.kill(process.pid, 'SIGKILL');
      if (width === OCCUPYING) for (;;);
      if (width === HOARDING) hoard();
      return { cluster_lit: false, odometer: null, warning_lights: [], fuel_level_percent: null };
    };
  },
};

function hoard(): void {
  const held: Buffer[] = [];
  while (held.length < 1_000) held.push(Buffer.alloc(64 * 1024 * 1024, 1));
}
