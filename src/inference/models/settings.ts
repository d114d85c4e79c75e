/** What a pipeline needs of its model's `model.json` beyond the fields every model has. */
import type { Static, TSchema } from 'typebox';
import { versionOf } from './manifest.ts';
import { fileEntry, type Model } from './model.ts';
import { createSchemaCheck } from './schema-errors.ts';

/**
 * Checks the manifest against the pipeline's own schema and gives it that schema's type.
 * @throws Error that names every field that is missing or wrong
 */
export function readSettings<Schema extends TSchema>(model: Model, schema: Schema): Static<Schema> {
  const check = createSchemaCheck(schema);
  const manifest: unknown = model.manifest;
  if (check.isValid(manifest)) return manifest;
  throw new Error(`${versionOf(model.manifest)}: ${check.problems()}`);
}

/** Width and height of a picture input with layout NCHW, both fixed. */
export function inputSize(model: Model, file: string, input: string): { width: number; height: number } {
  const [, , height, width] = fileEntry(model, file).inputs[input]?.shape ?? [];
  if (typeof height !== 'number' || typeof width !== 'number') {
    const where = `files.${file}.inputs.${input}.shape`;
    throw new Error(`${versionOf(model.manifest)}: ${where} must be [N, channels, height, width] with a fixed size`);
  }
  return { width, height };
}
