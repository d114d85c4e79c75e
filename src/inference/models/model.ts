/** A model as a pipeline sees it: what its `model.json` says, and a way to run its files. */
import type { ModelManifest } from './manifest.ts';

/** Row-major, last axis fastest. */
export interface FloatTensor {
  data: Float32Array;
  shape: readonly number[];
}

/** Whole numbers: an int64 input. */
export interface IntegerTensor {
  data: BigInt64Array;
  shape: readonly number[];
}

export type ModelInputs = Readonly<Record<string, FloatTensor | IntegerTensor>>;

/** Outputs of one run, read by name and expected type. */
export interface ModelOutputs {
  /** @throws Error when the model has no such output. */
  shapeOf(name: string): readonly number[];
  /** Half floats come as 32-bit ones. @throws Error when the model has no such output, or it is not of floats, or holds a NaN. */
  floats(name: string): FloatTensor;
  /** An int64 or int32 output. @throws Error when the model has no such output, or it is not of integers. */
  integers(name: string): readonly number[];
}

export interface Model {
  readonly manifest: ModelManifest;
  /** The models named by `uses` in `model.json`, by the name of their role. */
  readonly uses: Readonly<Record<string, Model>>;
  /** Runs one file of the model. Shapes are those of its entry in `model.json`. */
  run(file: string, inputs: ModelInputs): Promise<ModelOutputs>;
}

/** The file's entry, or an error that says what is missing from `model.json`. */
export function fileEntry(model: Model, file: string): ModelManifest['files'][string] {
  const entry = model.manifest.files[file];
  if (!entry) throw new Error(`${model.manifest.model}: files.${file} is missing from model.json`);
  return entry;
}

/** The model in a role, or an error that says what is missing from `model.json`. */
export function usedModel(model: Model, role: string): Model {
  const used = model.uses[role];
  if (!used) throw new Error(`${model.manifest.model}: uses.${role} is missing from model.json`);
  return used;
}
