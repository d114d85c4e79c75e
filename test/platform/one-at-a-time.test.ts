import { expect, it } from 'vitest';
import { createOneAtATime } from '../../src/platform/one-at-a-time.ts';

it('tasks of one key run in order, also after a failure, and those of other keys side by side', async () => {
  const oneAtATime = createOneAtATime();
  const log: string[] = [];
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const first = oneAtATime('a', async () => {
    log.push('a1 began');
    await opened;
    throw new Error('a1 failed');
  });
  const second = oneAtATime('a', async () => log.push('a2 ran'));
  await oneAtATime('b', async () => log.push('b1 ran'));
  expect(log).toEqual(['a1 began', 'b1 ran']);
  open();
  await expect(first).rejects.toThrow('a1 failed');
  await second;
  expect(log).toEqual(['a1 began', 'b1 ran', 'a2 ran']);
});
