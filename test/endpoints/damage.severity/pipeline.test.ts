/** The pipeline with classifiers of known outputs. */
import { describe, expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/damage.severity/pipeline.ts';
import type { Result } from '../../../src/endpoints/damage.severity/result.ts';
import { cellsWithin, damageModel } from '../../inference/support/damage-models.ts';
import { logits, modelSaying, picture, rows, sent } from '../../inference/support/saying-model.ts';

const says = (labels: (string | null)[]) => ({
  labels,
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
  says: { logits: logits(labels.length, { index: 0, probability: 0.9 }) },
});
const boxes = modelSaying({
  detector: {
    labels: ['dent'],
    decoder: { name: 'yolo-detection', output: 'output0', score: 0.5, overlap: 0.5, maximum: 10 },
    says: { output0: rows([32], [32], [10], [10], [0.8]) },
  },
});
const networks = {
  severity: says(['moderate', 'minor']),
  method: says(['replace', 'polish']),
  paint: says(['yes', 'no']),
  safety: says(['no', 'yes']),
};
const grade = (parameters: Record<string, unknown>, changes = {}) =>
  pipeline.create(modelSaying({ ...networks, ...changes }, { damages: boxes }))({
    pictures: sent(picture),
    parameters,
  });
const bbox = { x: 20, y: 20, width: 10, height: 10 };

test('damage.severity grades each requested damage under its id and part', async () => {
  const damages = [
    { id: 'mine', type: 'scratch', part: 'hood', side: 'none', bbox },
    { type: 'dent', bbox: { x: 60, y: 60, width: 10, height: 10 } },
  ];
  const confidence = expect.closeTo(1);
  expect(await grade({ damages })).toEqual({
    overall: null,
    damages: [
      {
        id: 'mine',
        type: 'scratch',
        part: 'hood',
        side: 'none',
        bbox,
        severity: { value: 'moderate', confidence },
        repair_method: { value: 'replace', confidence },
        material: null,
        paint_required: { value: true, confidence },
        safety_relevant: { value: false, confidence },
      },
      expect.objectContaining({ id: 'damage_2', part: null, side: null }),
    ],
    quality_issues: [],
  });
});

test('damage.severity grades the damages that the model finds if none are requested', async () => {
  expect(await grade({})).toMatchObject({
    damages: [{ id: 'damage_1', type: 'dent', bbox: { x: 27, y: 27, width: 10, height: 10 } }],
  });
});

test('damage.severity omits a damage that a classifier rejects', async () => {
  const severity = says([null, 'minor']);
  expect(await grade({ damages: [{ type: 'dent', bbox }] }, { severity })).toMatchObject({ damages: [] });
});

describe('the damages of an earlier job', () => {
  const damages = [{ id: 'damage_1', type: 'dent', bbox }];

  test('the damages of an earlier job replace its id', async () => {
    const requested = await pipeline.withReferences?.({ damage_job_id: 'job_1' }, async (id) =>
      id === 'job_1' ? { damages } : null,
    );
    expect(requested).toEqual({ damages });
  });

  test('damage.severity fails with advice after the damages of the earlier job are deleted', async () => {
    await expect(pipeline.withReferences?.({ damage_job_id: 'job_1' }, async () => null)).rejects.toMatchObject({
      code: 'input_unreadable',
      param: 'damage_job_id',
    });
  });
});

test('damage.severity refuses a model without one of the classifiers', () => {
  const { severity, method, paint } = networks;
  expect(() => pipeline.create(modelSaying({ severity, method, paint }, { damages: boxes }))).toThrow(/'safety'/);
  expect(() => pipeline.create(modelSaying(networks))).toThrow(/uses\.damages/);
});

describe('with a model that outlines damages', () => {
  const car = {
    vehicle: cellsWithin([1, 1], [6, 6]),
    'front_door.left': cellsWithin([1, 1], [3, 4]),
    'front_wheel.left': cellsWithin([4, 4], [5, 5]),
  };
  const model = damageModel({ dent: cellsWithin([1, 2], [3, 3]) }, car);
  const byRules = (parameters: Record<string, unknown>, of = model) =>
    pipeline.create(of)({ pictures: sent(picture), parameters });
  const box = { x: 8, y: 16, width: 24, height: 16 };

  test('damage.severity grades the damages that it outlines, and the vehicle by them', async () => {
    expect(await byRules({})).toMatchObject({
      overall: { severity: { value: 'severe' }, drivable: { value: false }, total_loss: { value: false } },
      damages: [
        {
          id: 'damage_1',
          type: 'dent',
          part: 'front_door',
          side: 'left',
          severity: { value: 'severe' },
          repair_method: { value: 'repair_and_paint' },
          material: { value: 'metal' },
          paint_required: { value: true },
          safety_relevant: { value: false },
        },
      ],
    });
  });

  test('damage.severity grades requested damages by the size that they state', async () => {
    const size = { length_mm: 20, width_mm: 10, part_area_fraction: null, confidence: 0.5 };
    expect(await byRules({ damages: [{ id: 'mine', type: 'scratch', bbox: box, size }] })).toMatchObject({
      overall: { severity: { value: 'minor' } },
      damages: [{ id: 'mine', type: 'scratch', part: 'front_door', repair_method: { value: 'polish' } }],
    });
  });

  test('damage.severity takes the type of a requested damage from what it finds there', async () => {
    expect(await byRules({ damages: [{ bbox: box }] })).toMatchObject({ damages: [{ type: 'dent' }] });
  });

  test('damage.severity omits a requested damage that is not visible', async () => {
    const damages = [
      { bbox: { x: 40, y: 8, width: 8, height: 8 } },
      { type: 'dent', bbox: { x: 0, y: 0, width: 5, height: 60 } },
    ];
    expect(await byRules({ damages })).toEqual({ overall: null, damages: [], quality_issues: [] });
  });

  test('damage.severity knows no part and no extent where no vehicle is sure', async () => {
    const unsure = damageModel({ dent: cellsWithin([1, 2], [3, 3]) }, car, 0.999);
    const { damages } = (await byRules({}, unsure)) as Result;
    expect(damages).toMatchObject([{ type: 'dent', part: null, side: null, severity: { value: 'moderate' } }]);
    expect(damages[0]?.severity.confidence).toBeLessThanOrEqual(0.4);
  });

  test('damage.severity grades nothing in a picture without a vehicle', async () => {
    const empty = damageModel({ dent: cellsWithin([1, 2], [3, 3]) }, { hood: [] });
    const nothing = { overall: null, damages: [], quality_issues: [] };
    expect(await byRules({}, empty)).toEqual(nothing);
    expect(await byRules({ damages: [{ type: 'dent', bbox: box }] }, empty)).toEqual(nothing);
  });
});
