/** The pipeline with networks of known outputs: which of them run, and the result. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/dashboard.read/pipeline.ts';
import type { Parameters } from '../../../src/endpoints/dashboard.read/request.ts';
import type { Result } from '../../../src/endpoints/dashboard.read/result.ts';
import { type ModelManifest, parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model, ModelInputs, ModelOutputs } from '../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';
import { type Corners, lineAt, modelSeeing, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { sent } from '../../inference/support/saying-model.ts';

const manifest = manifestOf('dashboard-reader/2026-11-24');
const textManifest = manifestOf('text-line/2026-11-21');

/** 512 × 256: the locator sees it at half size, 64 pixels lower. */
const picture = { width: 512, height: 256, pixels: new Uint8Array(512 * 256 * 3) };

interface Said {
  presence?: number;
  lit?: number;
  elements?: { label: string; score: number }[];
  line?: string;
  /** One per box, if they differ. */
  lines?: string[];
  lineProbability?: number;
  /** Lines of print, each with its place. */
  print?: readonly { text: string; at: Corners; probability?: number }[];
  lampClasses?: string[];
  /** One per gauge. */
  fuel?: { level: number; confidence: number }[];
  rules?: Record<string, unknown>;
}

/** Runs the pipeline. Returns the result and the names of the networks that ran. */
async function run(said: Said, parameters: Parameters = {}): Promise<{ result: Result; runs: string[] }> {
  const runs: string[] = [];
  const answer = (file: string, inputs: ModelInputs): ModelOutputs => {
    runs.push(file);
    // A box is read in five crops.
    const box = Math.floor((runs.filter((each) => each === 'text-line').length - 1) / 5);
    const line = said.lines?.[box] ?? said.line;
    return outputs(answers({ ...said, ...(line && { line }) }, file, Object.values(inputs)[0]?.shape ?? []));
  };
  const text: Model = { manifest: textManifest, uses: {}, run: async (file, inputs) => answer(file, inputs) };
  const lines = said.print ?? [SPEEDOMETER];
  const printed = readerSaying(lines.map((each) => spelt(each.text, each.probability ?? 0.98)));
  const print = modelSeeing(
    lines.map(({ at }) => at),
    printed,
  );
  const rules = { ...manifest.rules, ...said.rules };
  const model: Model = {
    manifest: { ...manifest, rules },
    uses: { text, print },
    run: async (file, inputs) => answer(file, inputs),
  };
  const result = (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Result;
  return { result, runs };
}

/** Print that only a cluster shows. */
const SPEEDOMETER: NonNullable<Said['print']>[number] = { text: 'km/h', at: lineAt(10, 50, 40, 8) };
const ODOMETER = { label: 'odometer_digital', score: 0.9 };
const FUEL = { label: 'fuel_gauge', score: 0.9 };
const LAMP = { label: 'lamp', score: 0.8 };

test('a picture without a cluster gives nulls, and no other network of clusters runs', async () => {
  const { result, runs } = await run({ presence: 0.1 });
  expect(result).toMatchObject({ cluster_lit: null, odometer: null, warning_lights: [], fuel_level_percent: null });
  expect(result.quality_issues?.map(({ reason }) => reason)).toContain('no_dashboard');
  expect(runs).toEqual(['locator']);
});

test('everything a lit cluster shows is in the result', async () => {
  const { result } = await run({
    elements: [ODOMETER, LAMP, LAMP, FUEL],
    line: '84213 km',
    lampClasses: ['check_engine', 'none'],
    fuel: [{ level: 0.624, confidence: 0.9 }],
  });
  expect(result).toMatchObject({
    cluster_lit: true,
    odometer: { value: 84_213, unit: 'km', display_type: 'digital' },
    warning_lights: [{ code: 'check_engine', label: 'Check engine', severity: 'advisory' }],
    fuel_level_percent: 62,
    fuel_level_confidence: expect.closeTo(0.9),
  });
});

test('dashboard.read returns boxes in pixels of the original picture', async () => {
  const { result } = await run({ elements: [ODOMETER], line: '84213' });
  // The cluster fills the picture, so the elements network sees it at 448/512, 16 pixels lower.
  const scale = 448 / 512;
  const { x = 0, y = 0, width = 0, height = 0 } = result.odometer?.bbox ?? {};
  expect([x, y, width, height].map((value) => Math.round(value))).toEqual(
    [10 / scale, (20 - 16) / scale, 40 / scale, 12 / scale].map((value) => Math.round(value)),
  );
});

test("the odometer's confidence is the agreement of crops, and a lamp's is box score × class probability", async () => {
  const { result } = await run({
    elements: [ODOMETER, LAMP],
    line: '84213',
    lineProbability: 0.98,
    lampClasses: ['abs'],
  });
  expect(result.odometer?.confidence).toBeCloseTo(0.98, 5);
  expect(result.warning_lights?.[0]?.confidence).toBeCloseTo(0.8 * 0.95, 5);
});

test('dashboard.read reads the drums of an unpowered cluster, without lamps or fuel', async () => {
  const fuel = [{ level: 0.5, confidence: 0.9 }];
  const drums = { label: 'odometer_analogue', score: 0.9 };
  const weakLamp = { label: 'lamp', score: 0.4 };
  const { result } = await run({
    lit: 0.1,
    elements: [drums, weakLamp, FUEL],
    line: '084213',
    lampClasses: ['abs'],
    fuel,
  });
  expect(result).toMatchObject({
    cluster_lit: false,
    odometer: { value: 84_213, unit: null, display_type: 'analogue' },
    warning_lights: [],
    fuel_level_percent: null,
    fuel_level_confidence: null,
  });
});

test('dashboard.read takes a readable display or a clearly lit lamp as proof of power', async () => {
  expect((await run({ lit: 0.1, elements: [ODOMETER], line: '84213' })).result.cluster_lit).toBe(true);
  const lamp = { lit: 0.1, elements: [LAMP], lampClasses: ['abs'] };
  expect((await run(lamp)).result).toMatchObject({ cluster_lit: true, warning_lights: [{ code: 'abs' }] });
});

test('dashboard.read returns null for the lamps alone with read_warning_lights=false', async () => {
  const said = { lit: 0.1, elements: [LAMP, FUEL], lampClasses: ['abs'], fuel: [{ level: 0.5, confidence: 0.9 }] };
  const { result } = await run(said, { read_warning_lights: false });
  expect(result).toEqual({ ...(await run(said)).result, warning_lights: null });
  expect(result.cluster_lit).toBe(true);
});

test('dashboard.read reads the second box if the first is not an odometer', async () => {
  const { result, runs } = await run({
    elements: [ODOMETER, { ...ODOMETER, score: 0.6 }],
    lines: ['123.4 km', '84213'],
  });
  expect(result.odometer?.value).toBe(84_213);
  expect(runs.filter((file) => file === 'text-line')).toHaveLength(10);
});

test('dashboard.read uses unit_hint only if the cluster shows no unit', async () => {
  const hint = { unit_hint: 'mi' } as const;
  expect((await run({ elements: [ODOMETER], line: '84213' }, hint)).result.odometer?.unit).toBe('mi');
  expect((await run({ elements: [ODOMETER], line: '84213 km' }, hint)).result.odometer?.unit).toBe('km');
});

test('dashboard.read rejects a line that is not an odometer or has an uncertain character', async () => {
  expect((await run({ elements: [ODOMETER], line: '123.4 km' })).result.odometer).toBeNull();
  expect((await run({ elements: [ODOMETER], line: '84213', lineProbability: 0.3 })).result.odometer).toBeNull();
});

test('dashboard.read takes the odometer from print where its own networks see none', async () => {
  const { result } = await run({
    print: [SPEEDOMETER, { text: '310 km', at: lineAt(10, 10, 40, 8) }, { text: '106655', at: lineAt(10, 30, 40, 8) }],
  });
  expect(result).toMatchObject({
    cluster_lit: true,
    odometer: { value: 106_655, unit: null, display_type: 'digital' },
  });
  expect(result.odometer?.confidence).toBeCloseTo(0.98, 5);
});

test('print of a cluster counts where the locator sees none', async () => {
  const close = [{ text: '106655 km', at: lineAt(10, 30, 40, 8) }, SPEEDOMETER];
  expect((await run({ presence: 0.1, print: close })).result).toMatchObject({
    cluster_lit: true,
    odometer: { value: 106_655 },
  });
});

test('dashboard.read reads no odometer from the print of a picture without a cluster', async () => {
  const invoice = [
    { text: 'Invoice', at: lineAt(10, 10, 40, 8) },
    ...['20', '40', '60'].map((text, index) => ({ text, at: lineAt(60 + 20 * index, 10, 10, 8) })),
    { text: '874516', at: lineAt(10, 30, 40, 8) },
  ];
  expect((await run({ presence: 0.1, print: invoice })).result.odometer).toBeNull();
});

test('dashboard.read returns null for an uncertain fuel gauge', async () => {
  const { result } = await run({ elements: [FUEL], fuel: [{ level: 0.5, confidence: 0.1 }] });
  expect(result).toMatchObject({ fuel_level_percent: null, fuel_level_confidence: null });
});

const TWO_GAUGES = {
  elements: [FUEL, { ...FUEL, score: 0.7 }],
  fuel: [
    { level: 0.05, confidence: 0.65 },
    { level: 0.5, confidence: 0.92 },
  ],
};

test('dashboard.read reads the surest gauge, not the best box', async () => {
  const { result, runs } = await run(TWO_GAUGES);
  expect(result).toMatchObject({ fuel_level_percent: 50, fuel_level_confidence: expect.closeTo(0.92) });
  expect(runs.filter((file) => file === 'fuel')).toHaveLength(1);
});

test('dashboard.read looks at the best box alone where model.json does not say how many', async () => {
  const { result } = await run({ ...TWO_GAUGES, rules: { fuelCandidates: undefined } });
  expect(result.fuel_level_percent).toBe(5);
});

test('dashboard.read never detects anything from NaN outputs', async () => {
  const { result } = await run({ elements: [{ label: 'lamp', score: Number.NaN }], presence: 0.9 });
  expect(result.warning_lights).toEqual([]);
});

test('dashboard.read refuses a model.json without a threshold and names it', () => {
  const { presence: _, ...thresholds } = manifest.thresholds ?? {};
  const broken: Model = { manifest: { ...manifest, thresholds }, uses: {}, run: () => Promise.reject(new Error()) };
  expect(() => pipeline.create(broken)).toThrow("thresholds must have required property 'presence'");
});

/** The outputs of each network, in the shapes of `model.json`. */
function answers(said: Said, file: string, shape: readonly number[]): Record<string, FloatTensor> {
  const { elements = [], lampClasses = [], lineProbability = 0.98 } = said;
  if (file === 'locator') {
    return {
      boxes: { data: Float32Array.of(0, 64, 256, 192), shape: [1, 4] },
      scores: { data: Float32Array.of(said.presence ?? 0.9), shape: [1] },
      lit: { data: Float32Array.of(said.lit ?? 0.9), shape: [1] },
    };
  }
  if (file === 'elements') {
    const boxes = elements.flatMap((_, index) => [10 + 50 * index, 20, 50 + 50 * index, 32]);
    const labels = labelsOf('elements');
    return {
      boxes: { data: Float32Array.from(boxes), shape: [elements.length, 4] },
      scores: { data: Float32Array.from(elements, ({ score }) => score), shape: [elements.length] },
      labels: { data: Float32Array.from(elements, ({ label }) => labels.indexOf(label)), shape: [elements.length] },
    };
  }
  if (file === 'lamps') {
    const classes = labelsOf('lamps');
    const rows = lampClasses.flatMap((code) => classes.map((each) => (each === code ? 0.95 : 0.05 / classes.length)));
    return { probabilities: { data: Float32Array.from(rows), shape: [shape[0] ?? 0, classes.length] } };
  }
  if (file === 'fuel') {
    const read = (said.fuel ?? []).slice(0, shape[0]);
    return {
      level: { data: Float32Array.from(read, ({ level }) => level), shape: [read.length] },
      confidence: { data: Float32Array.from(read, ({ confidence }) => confidence), shape: [read.length] },
    };
  }
  return { log_probabilities: spell(said.line ?? '', lineProbability) };
}

/** [1, T, C] that decodes to `text`: a blank after each character. */
function spell(text: string, probability: number): FloatTensor {
  const labels = (textManifest.files['text-line']?.labels ?? []) as string[];
  const steps = Array.from(text).flatMap((character) => [labels.indexOf(character), 0]);
  const rows = steps.map((label) =>
    labels.map((_, index) => Math.log(index === label ? probability : (1 - probability) / labels.length)),
  );
  return { data: Float32Array.from(rows.flat()), shape: [1, steps.length, labels.length] };
}

function outputs(tensors: Record<string, FloatTensor>): ModelOutputs {
  const require = (name: string): FloatTensor => {
    const tensor = tensors[name];
    if (!tensor) throw new Error(`no output ${name}`);
    return tensor;
  };
  return {
    shapeOf: (name) => require(name).shape,
    floats: require,
    integers: (name) => Array.from(require(name).data),
  };
}

function labelsOf(file: string): string[] {
  const labels = manifest.files[file]?.labels ?? [];
  return labels.map((label) => (typeof label === 'string' ? label : (label as { code: string }).code));
}

function manifestOf(model: `${string}/${string}`): ModelManifest {
  const url = new URL(`../../../models/${model}/model.json`, import.meta.url);
  return parseManifest(readFileSync(url, 'utf8'));
}
