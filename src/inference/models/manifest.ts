/** `model.json`: what a release of a model says about itself. */
import { type TProperties, Type } from 'typebox';
import { decoder } from './decoder-settings.ts';
import { createSchemaCheck } from './schema-errors.ts';
import { INPUT_TYPES, OUTPUT_TYPES } from './tensor-types.ts';

/** What it does not know is refused: a misspelt field that may be left out would be, without a word. */
const closed = <Fields extends TProperties>(fields: Fields) => Type.Object(fields, { additionalProperties: false });

/** For readers alone. */
const description = Type.Optional(Type.String());

/** A dimension: a number, or the name of one that varies from call to call. */
const shape = Type.Array(Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })]));

/** The pipeline that reads it checks it, and refuses what it would not read. */
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
  /** Hex SHA-256 of the file: a half-copied or exchanged file is refused. */
  sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  /** In place of both: a network that runs on a server of `KSERVE_SERVERS`. */
  kserve: Type.Optional(
    closed({
      server: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
      model: Type.String({ pattern: SERVED_NAME }),
      version: Type.Optional(Type.String({ pattern: SERVED_NAME })),
    }),
  ),
  inputs: Type.Record(Type.String(), input),
  outputs: Type.Record(Type.String(), output),
  /** Class index → class: a name, an object whose fields the pipeline knows, or null for a class that is of no use. */
  labels: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Object({}), Type.Null()]))),
  /** How its outputs are read, for the pipelines that take models of any make. */
  decoder: Type.Optional(decoder),
  /** Pictures of several jobs may share a run, at most `max` along the first dimension of every input and output. */
  batch: Type.Optional(closed({ max: Type.Integer({ minimum: 1, maximum: 1024 }) })),
  /** The class that spells nothing, where no decoder says it: `models/text-line` is read with 0. */
  blank: Type.Optional(Type.Literal(0)),
});

const manifest = closed({
  model: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
  /** Release date, and name of the folder. */
  release: Type.String({ format: 'date' }),
  /** What it is for: pipelines ask for models by their task. */
  task: Type.String({ minLength: 1 }),
  description: Type.String(),
  license: Type.String(),
  files: Type.Record(Type.String(), file, { minProperties: 1 }),
  /** Role → `<model>` (its newest release) or `<model>@<release>`. */
  uses: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
  /** Megabytes that one process needs with this model at its busiest, of the device that it runs on. */
  memoryMb: Type.Optional(Type.Integer({ minimum: 1 })),
  thresholds: Type.Optional(Type.Record(Type.String(), Type.Number())),
  /** Numbers of pre- and postprocessing; the pipeline that reads them checks them, and passes over others. */
  rules: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** File → input → shape of the zeros it is run with before it takes work. */
  warmUp: Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 1 })))),
  /** For readers alone, in any form. */
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
