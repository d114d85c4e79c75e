/** Reads the fields of `model.json` that a pipeline needs beyond those of every model. */
import type { Static, TSchema } from 'typebox';
import { versionOf } from './manifest.ts';
import { fileEntry, type Model } from './model.ts';
import { createSchemaCheck } from './schema-errors.ts';

/** Order of the axes: channels in planes, or interleaved. */
export type Layout = 'NCHW' | 'NHWC';

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

/**
 * Width and height of a picture input of three channels, both fixed.
 * @throws Error that names the field of `model.json` that is wrong
 */
export function inputSize(
  model: Model,
  file: string,
  input: string,
  layout: Layout = 'NCHW',
): { width: number; height: number } {
  const { shape = [] } = fileEntry(model, file).inputs[input] ?? {};
  const [channels, height, width] = layout === 'NCHW' ? shape.slice(1) : [shape[3], shape[1], shape[2]];
  if (typeof height === 'number' && typeof width === 'number' && channels === 3 && shape.length === 4) {
    return { width, height };
  }
  const expected = layout === 'NCHW' ? '[N, 3, height, width]' : '[N, height, width, 3]';
  const where = `${versionOf(model.manifest)}: files.${file}.inputs.${input}.shape`;
  throw new Error(`${where} must be ${expected} with a fixed size, since its layout is ${layout}`);
}
