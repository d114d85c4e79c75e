import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { versionOf } from '../../../src/inference/models/manifest.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { createModelFolder } from '../../../src/inference/models/registry.ts';
import {
  type Calibration,
  calibrated,
  calibrateReadings,
  createCalibration,
  logOdds,
} from '../../../src/inference/toolkit/calibration.ts';
import { importPipeline, pipelineUrl } from '../../../src/inference/toolkit/endpoint-folder.ts';
import { fitLogistic } from '../../../training/fit-logistic.ts';

const ENDPOINTS = new URL('../../../src/endpoints/', import.meta.url);
const MODELS = fileURLToPath(new URL('../../../models', import.meta.url));
const LINE = { slope: 0.5, offset: 1 };

test('the order of confidences stays, 0 stays 0, and none becomes 1', () => {
  const stated = [0, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.99, 0.9999];
  const mapped = stated.map((confidence) => calibrated(confidence, LINE));
  expect(mapped).toEqual(mapped.toSorted((a, b) => a - b));
  expect(mapped[0]).toBe(0);
  expect(calibrated(1, LINE)).toBeLessThan(1);
  expect(calibrated(0.7, { slope: 1, offset: 0 })).toBeCloseTo(0.7);
});

test('only readings of the model that it was fitted to are calibrated', () => {
  const model = (release: string) => ({ manifest: { model: 'print-reader', release } }) as Model;
  const calibration: Calibration = { ...LINE, model: 'print-reader@2026-11-22' };
  expect(createCalibration(model('2026-11-22'), calibration)(0.5)).toBeCloseTo(1 / (1 + Math.exp(-1)));
  expect(createCalibration(model('2027-01-01'), calibration)(0.5)).toBe(0.5);
});

test('each reading of a result is calibrated, but neither its characters nor what does not come from print', () => {
  const result = {
    marks: [{ mark: 'tubeless', confidence: 0.5 }],
    size: { text: 'A', confidence: 0.5, characters: [{ character: 'A', confidence: 0.5 }] },
    brand: null,
    coded: { value: 'X', confidence: 0.5 },
  };
  const twice = (confidence: number) => 2 * confidence;
  expect(calibrateReadings(result, twice, (reading) => 'value' in reading)).toEqual({
    ...result,
    marks: [{ mark: 'tubeless', confidence: 1 }],
    size: { ...result.size, confidence: 1 },
  });
  expect(calibrateReadings(null, twice)).toBeNull();
});

test('a fit finds the line by which confidences were distorted', () => {
  // Of the readings with each true share, so many are right; the network states other log-odds.
  const observations = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95].flatMap((share) =>
    Array.from({ length: 2_000 }, (_, index) => ({
      logOdds: (logOdds(share) - 1) / 0.5,
      isRight: index < 2_000 * share,
    })),
  );
  const { slope, offset } = fitLogistic(observations);
  expect(slope).toBeCloseTo(0.5, 1);
  expect(offset).toBeCloseTo(1, 1);
});

test('few readings without a mistake promise no certainty, and a fit never reverses an order', () => {
  const right = Array.from({ length: 20 }, (_, index) => ({ logOdds: 1 + index / 4, isRight: true }));
  const sure = fitLogistic(right);
  expect(sure.slope).toBeGreaterThan(0);
  expect(calibrated(0.98, sure)).toBeCloseTo(21 / 22, 1);
  const reversed = right.map((each) => ({ ...each, isRight: each.logOdds < 3 }));
  expect(fitLogistic(reversed).slope).toBeGreaterThan(0);
});

const calibrations = globSync('*/calibration.ts', { cwd: ENDPOINTS }).map((path) => path.split('/')[0] ?? '');

test.each(calibrations)('the calibration of %s is that of the model which serves it', async (endpoint) => {
  const { CALIBRATION } = (await import(new URL(`${endpoint}/calibration.ts`, ENDPOINTS).href)) as {
    CALIBRATION: Calibration;
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const { tasks } = await importPipeline(pipelineUrl(ENDPOINTS, endpoint));
  const [serving] = (await createModelFolder(MODELS, log).read()).forTasks(tasks);
  expect(serving && versionOf(serving.manifest)).toBe(CALIBRATION.model);
  expect(CALIBRATION.slope).toBeGreaterThan(0);
});
