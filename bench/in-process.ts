/** Installed models and the pipelines of endpoints in this process: the work of child processes, to be measured. */
import { versionOf } from '../src/inference/models/manifest.ts';
import type { Model, ModelInputs } from '../src/inference/models/model.ts';
import { createModelFolder } from '../src/inference/models/registry.ts';
import { CPU } from '../src/inference/runtime/devices.ts';
import { openModel } from '../src/inference/runtime/onnx-model.ts';
import { type Network, RunQueue } from '../src/inference/runtime/run-queue.ts';
import { importPipeline, pipelineUrl } from '../src/inference/toolkit/endpoint-folder.ts';
import { decodeImage } from '../src/inference/toolkit/images/decode-image.ts';

const ENDPOINTS = new URL('../src/endpoints/', import.meta.url);

/** One run of a network, alone or for a batch of calls: it can be repeated without what surrounds it. */
export interface RecordedRun {
  network: Network;
  inputs: ModelInputs;
}

export interface ServedInProcess {
  /** `<model>@<release>` */
  version: string;
  model: Model;
  /** File → the endpoint's result. */
  read: (file: Uint8Array, parameters?: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

/**
 * Serves endpoints by the newest installed models, each of which is opened once, with one thread.
 * @param onRun receives each run of a network
 * @returns a function that throws an Error when no installed model serves the endpoint
 */
export async function serveInProcess(
  modelsDirectory: string,
  onRun: (run: RecordedRun) => void = () => undefined,
): Promise<(endpoint: string) => Promise<ServedInProcess>> {
  const log = { info: () => undefined, warn: () => undefined, error: console.error };
  const registry = await createModelFolder(modelsDirectory, log).read();
  const opened = new Map<string, Promise<Model>>();
  const queue = new RunQueue(() => undefined);
  const recorded = new Map<Network, Network>();
  const recording = (network: Network): Network => ({
    ...network,
    run: (inputs) => {
      onRun({ network, inputs });
      return network.run(inputs);
    },
  });
  const options = {
    threads: 1,
    device: CPU,
    run: (network: Network, inputs: ModelInputs) => {
      // One for each network: the queue batches calls of the same one.
      const same = recorded.get(network) ?? recording(network);
      recorded.set(network, same);
      return queue.run(same, inputs);
    },
    ask: () => Promise.reject(new Error('networks on servers are not measured')),
  };
  return async (endpoint) => {
    const definition = await importPipeline(pipelineUrl(ENDPOINTS, endpoint));
    const [installed] = registry.forTasks(definition.tasks);
    if (!installed) throw new Error(`no model in ${modelsDirectory} serves ${endpoint}`);
    const version = versionOf(installed.manifest);
    const opening = opened.get(version) ?? openModel(installed, options);
    opened.set(version, opening);
    const model = await opening;
    const pipeline = definition.create(model);
    return {
      version,
      model,
      read: (file, parameters = {}) => {
        const picture = { format: 'jpg', decode: () => decodeImage(file) } as const;
        return pipeline({ pictures: [picture], parameters });
      },
    };
  };
}
