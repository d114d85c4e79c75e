/** The models that `scripts/install-text-models.ts` writes, without the network; and with its weights, where they are. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import protobuf from 'protobufjs/minimal.js';
import {
  areTextWeightsCached,
  charactersOf,
  installModel,
  TEXT_WEIGHTS_DIRECTORY,
  type TextModel,
  textModels,
  textModelsFrom,
} from '../../../scripts/install-text-models.ts';
import { tireRead } from '../../../src/endpoints/tire.read/contract.ts';
import { pipeline as readTire } from '../../../src/endpoints/tire.read/pipeline.ts';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import { pipeline as readVin } from '../../../src/endpoints/vin.read/pipeline.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { noArtefacts, recordingLog, tinyRequest } from '../support/tiny-endpoint.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'text-models-'));
});

afterEach(() => {
  chmodSync(directory, 0o755);
  rmSync(directory, { recursive: true });
});

/** As a pipeline sees it, with what it uses. */
function asModel(name: string, models: readonly TextModel[]): Model {
  const found = models.find(({ model }) => model === name);
  const manifest = parseManifest(JSON.stringify(found?.manifest));
  const uses = Object.entries(manifest.uses ?? {}).map(([role, used]) => [role, asModel(used, models)] as const);
  return { manifest, uses: Object.fromEntries(uses), run: () => Promise.reject(new Error('it is not asked')) };
}

test('their model.json suit their pipelines and state licence and source', () => {
  const models = textModels(Array.from('0123456789'));
  expect(readVin.create(asModel('pp-ocr-v4-vin', models))).toBeDefined();
  expect(readTire.create(asModel('pp-ocr-v4-tire', models))).toBeDefined();
  const tasks = models.map(({ model }) => asModel(model, models).manifest.task);
  expect(tasks).toEqual(['text-line-reading', readVin.tasks[0], readTire.tasks[0]]);
  for (const { manifest, model, release, weights } of models) {
    expect(manifest).toMatchObject({
      model,
      release,
      license: expect.stringContaining('Apache-2.0'),
      description: expect.stringContaining('rapidocr-onnxruntime 1.4.4'),
    });
    expect(weights.sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

test("the reader's classes are the blank, its characters in order, and a space", () => {
  const { manifest } = asModel('pp-ocr-v4-line', textModels(['a', 'b']));
  expect(manifest.files['text-line']?.labels).toEqual(['', 'a', 'b', ' ']);
});

describe('the characters of a recogniser', () => {
  /** As ONNX writes a model: a version, a graph, and its metadata. */
  function onnxWith(metadata: Record<string, string>): Uint8Array {
    const writer = protobuf.Writer.create().uint32(8).int64(8).uint32(58).bytes(new Uint8Array(1_000).fill(114));
    for (const [key, value] of Object.entries(metadata)) {
      writer
        .uint32((14 << 3) | 2)
        .fork()
        .uint32(10)
        .string(key)
        .uint32(18)
        .string(value)
        .ldelim();
    }
    return writer.finish();
  }

  it('are read from its metadata, one a line', () => {
    const characters = ["'", '疗', '𣇉', 'A'];
    expect(charactersOf(onnxWith({ author: 'x', character: characters.join('\n') }))).toEqual(characters);
    expect(charactersOf(onnxWith({ character: `${characters.join('\n')}\n` }))).toEqual(characters);
  });

  it('are missing from another file', () => {
    expect(() => charactersOf(onnxWith({ author: 'x' }))).toThrow('it is not a PP-OCR recogniser');
  });
});

describe('a release', () => {
  const weights = Buffer.from('weights');
  const [model] = textModels(['a']) as [TextModel];
  const place = () => join(directory, model.model, model.release);

  it('appears whole, readable by others, with nothing beside it', () => {
    expect(installModel({ model, weights }, directory)).toEqual({ wasThere: false });
    expect(readdirSync(place()).toSorted()).toEqual([model.weights.name, 'model.json'].toSorted());
    expect(JSON.parse(readFileSync(join(place(), 'model.json'), 'utf8'))).toEqual(model.manifest);
    expect(readFileSync(join(place(), model.weights.name))).toEqual(weights);
    expect(readdirSync(directory)).toEqual([model.model]);
  });

  it('stays unchanged on a second installation', () => {
    installModel({ model, weights }, directory);
    expect(installModel({ model, weights }, directory)).toEqual({ wasThere: true });
  });

  it('that differs is left unchanged and named', () => {
    mkdirSync(place(), { recursive: true });
    writeFileSync(join(place(), 'model.json'), '{}');
    expect(() => installModel({ model, weights }, directory)).toThrow(`${place()} holds another`);
    expect(readFileSync(join(place(), 'model.json'), 'utf8')).toBe('{}');
  });
});

test("refuses weights that differ from the package's", () => {
  writeFileSync(join(directory, 'ch_PP-OCRv4_rec_infer.onnx'), 'something else');
  expect(() => textModelsFrom(directory)).toThrow(/has the SHA-256 \w+, not \w+: it is damaged or was replaced/);
});

const areInstalled = areTextWeightsCached();
const EXAMPLES = new URL('../../../training/print-examples/', import.meta.url);

(areInstalled ? describe : describe.skip)(
  areInstalled
    ? 'the weights of PP-OCR'
    : 'the weights of PP-OCR are not here, `npm run -s models:text` fetches them: skipped',
  () => {
    let backend: OnnxBackend;
    let models: string;
    const { log, lines } = recordingLog();

    beforeAll(async () => {
      models = mkdtempSync(join(tmpdir(), 'real-text-models-'));
      for (const text of textModelsFrom(TEXT_WEIGHTS_DIRECTORY)) installModel(text, models);
      backend = await createOnnxBackend({
        modelsDirectory: models,
        store: { get: async (name) => readFileSync(new URL(name, EXAMPLES)) },
        writeArtefact: noArtefacts,
        children: 1,
        threads: 1,
        logger: log,
        endpoints: [vinRead, tireRead],
        endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
      });
    }, 120_000);

    afterAll(async () => {
      await backend.close();
      rmSync(models, { recursive: true });
    });

    async function read(endpoint: string, storageKey: string): Promise<unknown> {
      const inputs = [{ field: 'image', storageKey, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null }];
      const request = tinyRequest({ endpoint, inputs });
      const { result, error } = await backend.infer(request, { signal: new AbortController().signal });
      expect(error).toBeNull();
      return result;
    }

    it('serve both endpoints without a logged problem', () => {
      expect(backend.installedEndpoints()).toEqual([
        { endpoint: 'vin.read', modelVersion: 'pp-ocr-v4-vin@2025-01-17' },
        { endpoint: 'tire.read', modelVersion: 'pp-ocr-v4-tire@2025-01-17' },
      ]);
      expect(lines.filter(({ fields }) => 'reason' in fields)).toEqual([]);
    });

    it.each(JSON.parse(readFileSync(new URL('truth.json', EXAMPLES), 'utf8')) as { file: string; result: object }[])(
      'read $file',
      async ({ file, result }) => {
        expect(existsSync(new URL(file, EXAMPLES))).toBe(true);
        expect(await read(file.startsWith('tire') ? 'tire.read' : 'vin.read', file)).toMatchObject(result);
      },
      60_000,
    );
  },
);
