/** What `docs/models.md` shows for an export of each kind works unchanged. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pipeline as identify } from '../../../src/endpoints/vehicle.identify/pipeline.ts';
import { type DecoderName, decoder } from '../../../src/inference/models/decoder-settings.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { createClassifier } from '../../../src/inference/toolkit/detection/classifier.ts';
import { createDetector, DETECTION_DECODERS } from '../../../src/inference/toolkit/detection/detector.ts';
import { createPlateFinder } from '../../../src/inference/toolkit/detection/plates.ts';
import { createPictureMaker } from '../../../src/inference/toolkit/images/image-to-image.ts';
import { createMatteMaker } from '../../../src/inference/toolkit/segmentation/matting.ts';
import { createStraightLineReader } from '../../../src/inference/toolkit/text/line-reader.ts';
import { manifestOfGuide } from '../support/exported-models.ts';

interface Entry {
  decoder: { name: DecoderName };
  labels?: unknown[];
}

const VOCABULARY = ['tire', 'rim.alloy', 'car', 'van', 'plate'];

const guide = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');
const [, chapter = ''] = guide.split('\n## What to write for an export\n');
const [examples = ''] = chapter.split('\n## ');
const entries = [...examples.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = '']) => JSON.parse(block) as Entry);

/** The model of the guide with this entry as one of its files, in the words of the guide but for what is given. */
function modelWith(file: string, entry: Entry): Model {
  const { model, release, task, license, description, files, warmUp } = manifestOfGuide();
  const { path, sha256, inputs } = files.detector;
  const written = { model, release, task, license, description, files: { [file]: { path, sha256, inputs, ...entry } } };
  const rules = { marginX: 0.05, marginY: 0.1, minimumWidth: 320, maximumWidth: 1280, multipleOf: 32 };
  const manifest = parseManifest(JSON.stringify({ ...written, rules, warmUp }));
  return { manifest, uses: {}, run: () => Promise.reject(new Error('it is not asked')) };
}

/** Makes what reads outputs of this kind: it throws where the entry does not fit. */
function create(entry: Entry): unknown {
  const { name } = entry.decoder;
  if (name === 'image-to-image') return createPictureMaker(modelWith('upscale', entry), 'upscale');
  if (name === 'alpha-matte') return createMatteMaker(modelWith('matting', entry));
  if (name === 'ctc') return createStraightLineReader(modelWith('text-line', entry));
  if (DETECTION_DECODERS.some((each) => each === name)) {
    const model = modelWith('detector', entry);
    return entry.labels?.[0] === 'plate' ? createPlateFinder(model) : createDetector(model, VOCABULARY);
  }
  if (entry.labels?.some((label) => label !== null && typeof label === 'object')) {
    return identify.create(modelWith('identity', entry));
  }
  return createClassifier(modelWith('view', entry), 'view', ['front', 'rear']);
}

test.each(entries.map((entry) => [entry.decoder.name, entry] as const))(
  'the example of %s is a file of a model',
  (_, entry) => {
    expect(create(entry)).toBeDefined();
  },
);

test('the guide shows an example of every decoder except one', () => {
  const { oneOf } = decoder as unknown as { oneOf: { properties: { name: { const: DecoderName } } }[] };
  const shown = new Set(entries.map((entry) => entry.decoder.name));
  const missing = oneOf.map(({ properties }) => properties.name.const).filter((name) => !shown.has(name));
  // It differs from the one for a single class in its name alone.
  expect(missing).toEqual(['sigmoid-classification']);
});

test("the guide's table lists every decoder", () => {
  const { oneOf } = decoder as unknown as { oneOf: { properties: { name: { const: DecoderName } } }[] };
  for (const { properties } of oneOf) expect(guide).toContain(`\n| \`${properties.name.const}\` | `);
});
