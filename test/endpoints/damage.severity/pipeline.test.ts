/** The pipeline with classifiers of known outputs. */
import { describe, expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/damage.severity/pipeline.ts';
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

test('grades each requested damage under its id and part', async () => {
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

test('grades the damages that the model finds if none are requested', async () => {
  expect(await grade({})).toMatchObject({
    damages: [{ id: 'damage_1', type: 'dent', bbox: { x: 27, y: 27, width: 10, height: 10 } }],
  });
});

test('omits a damage that a classifier rejects', async () => {
  const severity = says([null, 'minor']);
  expect(await grade({ damages: [{ type: 'dent', bbox }] }, { severity })).toMatchObject({ damages: [] });
});

describe('the damages of an earlier job', () => {
  const damages = [{ id: 'damage_1', type: 'dent', bbox }];

  test('replace its id', async () => {
    const requested = await pipeline.withReferences?.({ damage_job_id: 'job_1' }, async (id) =>
      id === 'job_1' ? { damages } : null,
    );
    expect(requested).toEqual({ damages });
  });

  test('fail the job with advice after they are deleted', async () => {
    await expect(pipeline.withReferences?.({ damage_job_id: 'job_1' }, async () => null)).rejects.toMatchObject({
      code: 'input_unreadable',
      param: 'damage_job_id',
    });
  });
});

test('refuses a model without one of the classifiers', () => {
  const { severity, method, paint } = networks;
  expect(() => pipeline.create(modelSaying({ severity, method, paint }, { damages: boxes }))).toThrow(/'safety'/);
  expect(() => pipeline.create(modelSaying(networks))).toThrow(/uses\.damages/);
});
