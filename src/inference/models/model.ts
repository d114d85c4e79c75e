/** A model as a pipeline sees it: its `model.json`, and a way to run its files. */
import type { ModelManifest } from './manifest.ts';
import type { FloatTensor, IntegerTensor } from './tensors.ts';

export type ModelInputs = Readonly<Record<string, FloatTensor | IntegerTensor>>;

/** Outputs of one run, read by name and expected type. */
export interface ModelOutputs {
  /** @throws Error when the model has no such output. */
  shapeOf(name: string): readonly number[];
  /** Half floats come as 32-bit floats. @throws Error when the output is missing, is not of floats, or contains NaN. */
  floats(name: string): FloatTensor;
  /** An int64 or int32 output. @throws Error when the output is missing or is not of integers. */
  integers(name: string): readonly number[];
}

export interface Model {
  readonly manifest: ModelManifest;
  /** Role → model, as named by `uses` in `model.json`. */
  readonly uses: Readonly<Record<string, Model>>;
  /**
   * Runs one file of the model, alone or in a batch with other jobs.
   * @param inputs with the shapes of the file's entry in `model.json`
   * @throws Error when the network fails on the inputs; ServiceError when a server cannot be reached
   */
  run(file: string, inputs: ModelInputs): Promise<ModelOutputs>;
}

/** The file's entry in `model.json`. @throws Error when it is missing */
export function fileEntry(model: Model, file: string): ModelManifest['files'][string] {
  const entry = model.manifest.files[file];
  if (!entry) throw new Error(`${model.manifest.model}: files.${file} is missing from model.json`);
  return entry;
}

/** The model in a role of `uses`. @throws Error when it is missing from `model.json` */
export function usedModel(model: Model, role: string): Model {
  const used = model.uses[role];
  if (!used) throw new Error(`${model.manifest.model}: uses.${role} is missing from model.json`);
  return used;
}
