import { expect, it } from 'vitest';
import { inBatches } from '../../../src/platform/database/in-batches.ts';

const batches = (count: number) => {
  let taken = 0;
  return async () => {
    taken += 1;
    return { rows: 2, hasMore: taken < count };
  };
};

it('a pass takes batches until there are no more', async () => {
  expect(await inBatches(batches(3))).toEqual({ rows: 6, hasMore: false });
});

it('a pass that has taken as many batches as it may says that there are more', async () => {
  const take = batches(300);
  expect(await inBatches(take)).toEqual({ rows: 400, hasMore: true });
  expect(await inBatches(take)).toEqual({ rows: 200, hasMore: false });
});
