import { describe, expect, it } from 'vitest';
import {
  decodeInferenceResult,
  encodeInferenceResult,
  type InferenceResult,
  type RecordedInferenceResult,
} from '../../src/contracts/run-job.ts';
import { plannedStage, stagePlan } from '../support/bundle-backends.ts';

const settlement = { status: 'failed', chargedCredits: 0, deliveryIds: ['whd_1'], error: 'input_unreadable' } as const;
const plan = stagePlan([plannedStage({ name: 'identify' })]);
const run = { isRemote: true, heartbeatTimeoutMs: 10_000 } as const;

const RESULTS: { result: InferenceResult; ofEarlierRelease: RecordedInferenceResult }[] = [
  { result: { kind: 'pending' }, ofEarlierRelease: 'staged' },
  { result: { kind: 'abandoned' }, ofEarlierRelease: 'abandoned' },
  {
    result: { kind: 'settled', settlement: { ...settlement, deliveryIds: ['whd_1'] } },
    ofEarlierRelease: { ...settlement, deliveryIds: ['whd_1'] },
  },
  { result: { kind: 'planned', plan }, ofEarlierRelease: plan },
  { result: { kind: 'remote', run }, ofEarlierRelease: run },
];

describe.each(RESULTS)('a result of kind $result.kind', ({ result, ofEarlierRelease }) => {
  it(`a result of kind ${result.kind} decodes to what was encoded`, () => {
    expect(decodeInferenceResult(encodeInferenceResult(result))).toEqual(result);
  });

  it(`a result of kind ${result.kind} decodes from the untagged shape that workers of earlier releases return`, () => {
    expect(decodeInferenceResult(ofEarlierRelease)).toEqual(result);
  });

  it(`a result of kind ${result.kind} keeps the fields that workflows of earlier releases read`, () => {
    const encoded = encodeInferenceResult(result);
    if (typeof ofEarlierRelease === 'string') expect(encoded).toBe(ofEarlierRelease);
    else expect(encoded).toMatchObject(ofEarlierRelease);
  });
});
