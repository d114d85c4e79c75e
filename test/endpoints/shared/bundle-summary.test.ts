import { expect, test } from 'vitest';
import type { Result } from '../../../src/endpoints/plate.read/result.ts';
import { summarize } from '../../../src/endpoints/shared/bundle-summary.ts';

const corner = { x: 0, y: 0 };
const plate = (text: string | null, confidence: number): Result['plates'][number] => ({
  text,
  confidence,
  characters: [],
  country: null,
  region: null,
  bbox: { x: 0, y: 0, width: 1, height: 1 },
  quad: [corner, corner, corner, corner],
});
const seeing = (...plates: Result['plates']) => ({
  'plate.read': { status: 'succeeded' as const, result: { plates }, error: null, charged_credits: 20 },
});

test('the plate is the first that can be read, of the surest picture', () => {
  const pictures = [seeing(plate('AB123', 0.6)), seeing(plate(null, 0.9), plate('AB128', 0.7))];
  expect(summarize(pictures).plate).toEqual({ text: 'AB128', confidence: 0.7, source_index: 1 });
});

test('there is no plate without one that can be read', () => {
  expect(summarize([seeing(plate(null, 0.9))]).plate).toBeNull();
});
