/** A model as it comes with the project, run in this process: no limit of time stops it on a busy machine. */
import type { Model } from '../../../src/inference/models/model.ts';
import { createModelFolder } from '../../../src/inference/models/registry.ts';
import { CPU } from '../../../src/inference/runtime/devices.ts';
import { openModel } from '../../../src/inference/runtime/onnx-model.ts';
import { RunQueue } from '../../../src/inference/runtime/run-queue.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';

export async function openInstalledModel(name: string): Promise<Model> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const installed = (await createModelFolder(`${PROJECT_DIRECTORY}models`, log).read()).find(name);
  if (!installed) throw new Error(`the model ${name} is not there`);
  const queue = new RunQueue(() => undefined);
  return openModel(installed, {
    threads: 1,
    device: CPU,
    run: (network, inputs) => queue.run(network, inputs),
    ask: () => Promise.reject(new Error('no network is elsewhere')),
  });
}
