import { expect, test } from '@jest/globals';
import { endAs } from '../../src/inference/fixture-end.ts';

test('charges a share of what was held', () => {
  expect(endAs({ status: 'partial', chargedShare: 0.25 }, {}, 50)).toMatchObject({
    status: 'partial',
    chargedCredits: 13,
  });
});

test('an end that does not say what is charged is a mistake', () => {
  expect(() => endAs({ status: 'partial' }, {}, 50)).toThrow(/does not say what is charged/);
});
