/** Only so many videos are decoded at a time. */
import { expect, test } from 'vitest';
import { createTurns } from '../../../src/inference/video/in-turn.ts';

const never = new AbortController().signal;

test('work runs in the order of the calls, two at a time', async () => {
  const inTurn = createTurns(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const work = gates.map(({ promise }, index) =>
    inTurn(never, async () => {
      begun.push(index);
      await promise;
      if (index === 0) throw new Error('failed');
    }),
  );
  work[0]?.catch(() => undefined);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  gates[0]?.resolve();
  await expect(work[0]).rejects.toThrow('failed');
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  await Promise.all(work.slice(1));
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('an aborted call gives up its turn', async () => {
  const inTurn = createTurns(1);
  const gate = Promise.withResolvers<void>();
  const first = inTurn(never, () => gate.promise);
  const cancelling = new AbortController();
  const second = inTurn(cancelling.signal, () => Promise.reject(new Error('must not run')));
  const third = inTurn(never, async () => 'ran');
  cancelling.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  gate.resolve();
  await first;
  expect(await third).toBe('ran');
});
