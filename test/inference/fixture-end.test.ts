import { expect, test } from '@jest/globals';
import { endAs } from '../../src/inference/fixture-end.ts';
import { tinyAdd, tinyRequest } from './tiny-endpoint.ts';

const end = (fixtureEnd: Parameters<typeof endAs>[0], result: unknown = {}) =>
  endAs(fixtureEnd, result, { request: tinyRequest({ reservedCredits: 50 }), endpoint: tinyAdd, now: new Date(0) });

test('charges a share of what was held', () => {
  expect(end({ status: 'partial', chargedShare: 0.25 })).toMatchObject({ status: 'partial', chargedCredits: 13 });
});

test('charges what the result states, and never more than was held', () => {
  const stated = { status: 'partial', chargedField: 'charged_credits' } as const;
  expect(end(stated, { charged_credits: 20 }).chargedCredits).toBe(20);
  expect(end(stated, { charged_credits: 80 }).chargedCredits).toBe(50);
});

test('an end that does not say what is charged is a mistake', () => {
  expect(() => end({ status: 'partial' })).toThrow(/does not say what is charged/);
  expect(() => end({ status: 'partial', chargedField: 'charged_credits' })).toThrow(/does not say what is charged/);
});
