/** ONNX Runtime sessions of a model's files. Imported in child processes only: `session.run` blocks its thread. */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { versionOf } from './manifest.ts';
import { type FloatTensor, fileEntry, type IntegerTensor, type Model, type ModelOutputs } from './model.ts';
import { type InstalledModel, readModelFile } from './registry.ts';

/**
 * Opens every file of the model and of those it uses, and runs each once on zeros, so that the first job does not pay
 * for allocations and a file that cannot run is found at once.
 * @throws Error that names the file
 */
export async function openModel(installed: InstalledModel, threads: number): Promise<Model> {
  const sessions = new Map<string, InferenceSession>();
  for (const file of Object.keys(installed.manifest.files)) {
    // The bytes that were hashed are the bytes that run.
    const bytes = await readModelFile(installed, file);
    const session = await InferenceSession.create(bytes, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    }).catch((error: Error) => {
      throw new Error(`files.${file}: ONNX Runtime cannot load it: ${error.message}`);
    });
    sessions.set(file, session);
  }
  const uses: Record<string, Model> = {};
  for (const [role, used] of Object.entries(installed.uses)) uses[role] = await openModel(used, threads);

  const model: Model = {
    manifest: installed.manifest,
    uses,
    run: async (file, inputs) => {
      const session = sessions.get(file);
      if (!session) throw new Error(`${installed.manifest.model}: files.${file} is missing from model.json`);
      const feeds = Object.entries(inputs).map(([name, tensor]) => [name, toOnnx(tensor)]);
      return readOutputs(`${installed.manifest.model}/${file}`, await session.run(Object.fromEntries(feeds)));
    },
  };
  await warmUp(model);
  return model;
}

async function warmUp(model: Model): Promise<void> {
  for (const [file, inputs] of Object.entries(model.manifest.warmUp)) {
    const entry = fileEntry(model, file);
    const zeros = Object.entries(inputs).map(([name, shape]): [string, FloatTensor | IntegerTensor] => {
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
  }
}

function isOfShape(actual: readonly number[], stated: readonly (number | string)[]): boolean {
  return (
    actual.length === stated.length &&
    stated.every((dimension, axis) => typeof dimension === 'string' || dimension === actual[axis])
  );
}

function toOnnx({ data, shape }: FloatTensor | IntegerTensor): Tensor {
  return data instanceof BigInt64Array ? new Tensor('int64', data, shape) : new Tensor('float32', data, shape);
}

function readOutputs(where: string, outputs: InferenceSession.ReturnType): ModelOutputs {
  const require = (name: string): Tensor => {
    const output = outputs[name];
    if (!output) throw new Error(`${where} has no output ${name}`);
    return output as Tensor;
  };
  return {
    shapeOf: (name) => require(name).dims,
    floats: (name) => {
      const { data, dims, type } = require(name);
      if (!(data instanceof Float32Array)) throw new Error(`${where}: output ${name} is ${type}, not float32`);
      return { data, shape: dims };
    },
    integers: (name) => {
      const { data, type } = require(name);
      if (data instanceof BigInt64Array || data instanceof Int32Array) return Array.from(data, Number);
      throw new Error(`${where}: output ${name} is ${type}, not int64 or int32`);
    },
  };
}
