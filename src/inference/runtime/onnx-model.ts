/** ONNX Runtime sessions of a model's files. Imported in child processes only: `session.run` blocks its thread. */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { versionOf } from '../models/manifest.ts';
import { fileEntry, type Model, type ModelInputs, type ModelOutputs } from '../models/model.ts';
import type { InstalledModel } from '../models/registry.ts';
import { readModelFile } from '../models/release.ts';
import { fromOutput, type InputType, isOfShape, toInput } from '../models/tensor-types.ts';
import type { FloatTensor, IntegerTensor } from '../models/tensors.ts';
import type { Device } from './devices.ts';
import { executionProvidersOf } from './execution-providers.ts';
import { type AskParent, openKserveNetwork } from './kserve/kserve-network.ts';
import type { Network, RawOutputs, RawTensor } from './run-queue.ts';

interface OpenOptions {
  /** Threads of one session. */
  threads: number;
  device: Device;
  /** Queues a run of a network, alone or in a batch. */
  run: (network: Network, inputs: ModelInputs) => Promise<RawOutputs>;
  /** Sends requests for networks on a KServe server. */
  ask: AskParent;
}

/**
 * Opens every file of the model and of the models it uses, and runs each on zeros: the first job then pays for no
 * allocations, and a file that cannot run is found at once.
 * @throws Error that names the file
 */
export async function openModel(installed: InstalledModel, options: OpenOptions): Promise<Model> {
  const { manifest } = installed;
  const networks = new Map<string, Network>();
  for (const file of Object.keys(manifest.files)) networks.set(file, await openNetwork(installed, file, options));
  const uses: Record<string, Model> = {};
  for (const [role, used] of Object.entries(installed.uses)) uses[role] = await openModel(used, options);

  const model: Model = {
    manifest,
    uses,
    run: async (file, inputs) => {
      const network = networks.get(file);
      if (!network) throw new Error(`${manifest.model}: files.${file} is missing from model.json`);
      return readOutputs(`${manifest.model}/${file}`, await options.run(network, inputs));
    },
  };
  await warmUp(model);
  return model;
}

async function openNetwork(installed: InstalledModel, file: string, options: OpenOptions): Promise<Network> {
  const entry = installed.manifest.files[file];
  if (entry?.kserve) return openKserveNetwork(installed, file, options.ask);
  // Loads the very bytes that were hashed.
  const bytes = await readModelFile(installed, file);
  const session = await InferenceSession.create(bytes, {
    executionProviders: executionProvidersOf(options.device),
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((error: Error) => {
    throw new Error(`files.${file}: ONNX Runtime cannot load it: ${error.message}`);
  });
  return {
    modelVersion: versionOf(installed.manifest),
    file,
    maximumBatch: entry?.batch?.max ?? 1,
    run: async (inputs) => {
      const feeds = Object.entries(inputs).map(([name, tensor]) => [name, toOnnx(tensor, entry?.inputs[name]?.dtype)]);
      // Tensors: no decoder reads sequences or maps.
      const outputs = (await session.run(Object.fromEntries(feeds))) as RawOutputs;
      return Object.fromEntries(
        Object.entries(outputs).map(([name, { type, data, dims }]) => {
          const stated = entry?.outputs[name]?.dtype ?? type;
          if (stated !== type)
            throw new Error(`files.${file}.outputs.${name}.dtype is ${stated}, the network's ${type}`);
          return [name, { type, data: fromOutput(data, type), dims }];
        }),
      );
    },
  };
}

/** Runs each file on zeros, with the shapes in `model.json` and with the largest batch. */
async function warmUp(model: Model): Promise<void> {
  for (const [file, shapes] of Object.entries(model.manifest.warmUp)) {
    await runOnZeros(model, file, shapes);
    const { max = 1 } = fileEntry(model, file).batch ?? {};
    if (max === 1) continue;
    const batch = Object.entries(shapes).map(([name, shape]): [string, number[]] => [name, [max, ...shape.slice(1)]]);
    const outputs = await runOnZeros(model, file, Object.fromEntries(batch));
    for (const name of Object.keys(fileEntry(model, file).outputs)) {
      const [samples] = outputs.shapeOf(name);
      if (samples === max) continue;
      throw new Error(`files.${file}.batch.max is ${max}, but the network's ${name} has ${samples} samples then`);
    }
  }
}

async function runOnZeros(
  model: Model,
  file: string,
  shapes: Readonly<Record<string, readonly number[]>>,
): Promise<ModelOutputs> {
  const entry = fileEntry(model, file);
  const zeros = Object.entries(shapes).map(([name, shape]): [string, FloatTensor | IntegerTensor] => {
    const length = shape.reduce((product, dimension) => product * dimension, 1);
    const isInteger = entry.inputs[name]?.dtype === 'int64';
    return [name, isInteger ? { data: new BigInt64Array(length), shape } : { data: new Float32Array(length), shape }];
  });
  const outputs = await model.run(file, Object.fromEntries(zeros)).catch((error: Error) => {
    throw new Error(`warmUp.${file}: ${versionOf(model.manifest)} cannot run it: ${error.message}`);
  });
  for (const [name, { shape }] of Object.entries(entry.outputs)) {
    const actual = outputs.shapeOf(name);
    if (isOfShape(actual, shape)) continue;
    throw new Error(
      `files.${file}.outputs.${name}.shape is [${shape.join(', ')}], the network's [${actual.join(', ')}]`,
    );
  }
  return outputs;
}

function toOnnx(tensor: FloatTensor | IntegerTensor, dtype: InputType | undefined): Tensor {
  const { type, data } = toInput(tensor, dtype);
  if (!(data instanceof Float16Array)) return new Tensor(type, data, tensor.shape);
  const bits = new Uint16Array(data.buffer);
  // ONNX Runtime's tensors wrap the bits in a Float16Array that its sessions cannot read: microsoft/onnxruntime#32323.
  return Object.assign(new Tensor(type, bits, tensor.shape), { cpuData: bits });
}

/** A loop, because `some` takes ten times as long on outputs of millions of numbers. */
function holdsNaN(data: Float32Array): boolean {
  for (let index = 0; index < data.length; index += 1) if (Number.isNaN(data[index])) return true;
  return false;
}

function readOutputs(where: string, outputs: RawOutputs): ModelOutputs {
  const require = (name: string): RawTensor => {
    const output = outputs[name];
    if (!output) throw new Error(`${where} has no output ${name}`);
    return output;
  };
  return {
    shapeOf: (name) => require(name).dims,
    floats: (name) => {
      const { data, dims, type } = require(name);
      if (!(data instanceof Float32Array)) {
        throw new Error(`${where}: output ${name} is ${type}, not float32 or float16`);
      }
      if (holdsNaN(data)) throw new Error(`${where}: output ${name} contains NaN`);
      return { data, shape: dims };
    },
    integers: (name) => {
      const { data, type } = require(name);
      if (data instanceof BigInt64Array || data instanceof Int32Array) return Array.from(data, Number);
      throw new Error(`${where}: output ${name} is ${type}, not int64 or int32`);
    },
  };
}
