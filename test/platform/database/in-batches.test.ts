import { expect, it } from 'vitest';
import { inBatches } from '../../../src/platform/database/in-batches.ts';

const batches = (count: number) => {
  let taken = 0;
  return async () => {
    taken += 1;
    return { rows: 2, hasMore: taken < count };
  };
};

it('takes batches until there are no more', async () => {
  expect(await inBatches(batches(3))).toEqual({ rows: 6, hasMore: false });
});

it('says that there are more when a pass has taken as many as it may, so that the next one follows at once', async () => {
  const take = batches(300);
  expect(await inBatches(take)).toEqual({ rows: 400, hasMore: true });
  expect(await inBatches(take)).toEqual({ rows: 200, hasMore: false });
});
