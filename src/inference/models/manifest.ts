/** The schema of `model.json`. `docs/models.md` explains each field. */
import { type TProperties, Type } from 'typebox';
import { decoder } from './decoder-settings.ts';
import { createSchemaCheck } from './schema-errors.ts';
import { INPUT_TYPES, OUTPUT_TYPES } from './tensor-types.ts';

/** Refuses unknown fields: a misspelt optional field would otherwise have no effect. */
const closed = <Fields extends TProperties>(fields: Fields) => Type.Object(fields, { additionalProperties: false });

/** For human readers only. */
const description = Type.Optional(Type.String());

/** Each dimension is a number, or a name for one that varies between calls. */
const shape = Type.Array(Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })]));

/** Checked by the pipeline that reads it. */
const ofPictures = Type.Optional(Type.Unknown());

const input = closed({
  shape,
  dtype: Type.Optional(Type.Enum(INPUT_TYPES)),
  layout: ofPictures,
  colour: ofPictures,
  range: ofPictures,
  mean: ofPictures,
  std: ofPictures,
  resize: ofPictures,
  pad: ofPictures,
  crop: ofPictures,
  sides: ofPictures,
  filter: ofPictures,
  interpolation: description,
});

const output = closed({
  shape,
  dtype: Type.Optional(Type.Enum(OUTPUT_TYPES)),
  meaning: description,
  coordinateSpace: description,
});

const SERVED_NAME = '^\\w[\\w.-]*$';

const file = closed({
  /** A file beside `model.json`, never elsewhere. */
  path: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' })),
  /** Hex SHA-256 of the file: a half-copied or replaced file is refused. */
  sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  /** Instead of both: a network on a server in `KSERVE_SERVERS`. */
  kserve: Type.Optional(
    closed({
      server: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
      model: Type.String({ pattern: SERVED_NAME }),
      version: Type.Optional(Type.String({ pattern: SERVED_NAME })),
    }),
  ),
  inputs: Type.Record(Type.String(), input),
  outputs: Type.Record(Type.String(), output),
  /** Class index → label: a name, an object whose fields the pipeline knows, or null for a class to ignore. */
  labels: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Object({}), Type.Null()]))),
  /** How the outputs are decoded, for pipelines that support any architecture. */
  decoder: Type.Optional(decoder),
  /** Several jobs may share a run of at most `max` samples, along the first dimension of every input and output. */
  batch: Type.Optional(closed({ max: Type.Integer({ minimum: 1, maximum: 1024 }) })),
  /** The CTC blank class of a file without a decoder: `models/text-line` has 0. */
  blank: Type.Optional(Type.Literal(0)),
});

const manifest = closed({
  model: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
  /** Release date, and name of the folder. */
  release: Type.String({ format: 'date' }),
  /** Selects the pipelines, and thus the endpoints, that use the model. */
  task: Type.String({ minLength: 1 }),
  description: Type.String(),
  license: Type.String(),
  files: Type.Record(Type.String(), file, { minProperties: 1 }),
  /** Role → `<model>` (its newest release) or `<model>@<release>`. */
  uses: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
  /** Peak megabytes of one process with this model, on the device that it runs on. */
  memoryMb: Type.Optional(Type.Integer({ minimum: 1 })),
  thresholds: Type.Optional(Type.Record(Type.String(), Type.Number())),
  /** Numbers for pre- and postprocessing. A pipeline checks those it reads and ignores others. */
  rules: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** File → input → shape of the zeros for the warm-up run. */
  warmUp: Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 1 })))),
  /** For human readers only, in any form. */
  notes: Type.Optional(Type.Unknown()),
});

export type ModelManifest = Type.Static<typeof manifest>;

/** `<model>@<release date>`, as jobs report it. */
export function versionOf({ model, release }: Pick<ModelManifest, 'model' | 'release'>): string {
  return `${model}@${release}`;
}

const check = createSchemaCheck(manifest);

/** @throws Error that names every field that is missing or wrong. */
export function parseManifest(text: string): ModelManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`model.json is not JSON: ${(error as Error).message}`);
  }
  if (check.isValid(value)) return value;
  throw new Error(`model.json: ${check.problems()}`);
}
