/** Runs of networks that come together are put together, and nobody notices but the clock. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ModelInputs } from '../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';
import type { NetworkRun } from '../../../src/inference/runtime/messages.ts';
import { type Network, type RawOutputs, type RawTensor, RunQueue } from '../../../src/inference/runtime/run-queue.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { rejectionOf } from '../support/tiny-endpoint.ts';

/** Adds one to each number, when it is let; notes what it was given. */
function addOne(maximumBatch: number, file = 'add') {
  const given: number[][] = [];
  const gates: (() => void)[] = [];
  let isOpen = true;
  const network: Network = {
    modelVersion: 'tiny@2026-01-01',
    file,
    maximumBatch,
    run: async ({ x }) => {
      const { data, shape } = x as FloatTensor;
      given.push([...data]);
      if (!isOpen) await new Promise<void>((resolve) => gates.push(resolve));
      if (data.includes(13)) throw new Error('unlucky');
      return { y: { type: 'float32', data: data.map((value) => value + 1), dims: shape } };
    },
  };
  return {
    network,
    given,
    hold: () => {
      isOpen = false;
    },
    release: () => {
      isOpen = true;
      for (const open of gates.splice(0)) open();
    },
  };
}

/** [samples, width] */
const rows = (...values: number[][]): ModelInputs => ({
  x: { data: Float32Array.from(values.flat()), shape: [values.length, values[0]?.length ?? 0] },
});
const valuesOf = (outputs: RawOutputs) => Array.from((outputs.y as RawTensor).data as Float32Array);
/** Until the network was given something. */
const begun = async (given: readonly unknown[]) => {
  while (given.length === 0) await nextTurn();
};

function queueOf(): { queue: RunQueue; runs: NetworkRun[] } {
  const runs: NetworkRun[] = [];
  return { queue: new RunQueue((run) => runs.push(run)), runs };
}

test('an idle queue runs a call alone, with unchanged inputs', async () => {
  const { queue, runs } = queueOf();
  const { network, given } = addOne(8);
  expect(valuesOf(await queue.run(network, rows([1, 2])))).toEqual([2, 3]);
  expect(given).toEqual([[1, 2]]);
  expect(runs).toMatchObject([{ modelVersion: 'tiny@2026-01-01', file: 'add', samples: 1 }]);
});

test('calls that arrive during a run make one batch, and each gets its own part', async () => {
  const { queue, runs } = queueOf();
  const { network, given, hold, release } = addOne(8);
  hold();
  const first = queue.run(network, rows([0, 0]));
  await begun(given);
  const others = [queue.run(network, rows([1, 2])), queue.run(network, rows([3, 4])), queue.run(network, rows([5, 6]))];
  release();
  expect((await Promise.all([first, ...others])).map(valuesOf)).toEqual([
    [1, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ]);
  expect(given).toEqual([
    [0, 0],
    [1, 2, 3, 4, 5, 6],
  ]);
  expect(runs.map(({ samples, waitsMs }) => [samples, waitsMs.length])).toEqual([
    [1, 1],
    [3, 3],
  ]);
});

test('a batch holds at most as many samples as model.json allows, counting every sample of a call', async () => {
  const { queue } = queueOf();
  const { network, given } = addOne(4);
  const calls = [[[1]], [[2], [3], [4]], [[5]], [[6]]].map((values) => queue.run(network, rows(...values)));
  expect((await Promise.all(calls)).map(valuesOf)).toEqual([[2], [3, 4, 5], [6], [7]]);
  expect(given).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

test('a call larger than any batch runs alone', async () => {
  const { queue } = queueOf();
  const { network, given } = addOne(2);
  const calls = [rows([1], [2], [3]), rows([4])].map((inputs) => queue.run(network, inputs));
  expect((await Promise.all(calls)).map(valuesOf)).toEqual([[2, 3, 4], [5]]);
  expect(given).toEqual([[1, 2, 3], [4]]);
});

test('a batch holds only samples of one shape and network, the longest waiting first', async () => {
  const { queue } = queueOf();
  const order: string[] = [];
  const one = addOne(8, 'one');
  const other = addOne(8, 'other');
  const calls = [
    queue.run(one.network, rows([1])).then(() => order.push('one, narrow')),
    queue.run(one.network, rows([2, 3])).then(() => order.push('one, wide')),
    queue.run(other.network, rows([4])).then(() => order.push('other')),
    queue.run(one.network, rows([5])).then(() => order.push('one, narrow')),
  ];
  await Promise.all(calls);
  expect(one.given).toEqual([
    [1, 5],
    [2, 3],
  ]);
  expect(other.given).toEqual([[4]]);
  expect(order).toEqual(['one, narrow', 'one, narrow', 'one, wide', 'other']);
});

test('a network whose model.json allows no batch is never batched', async () => {
  const { queue } = queueOf();
  const { network, given } = addOne(1);
  await Promise.all([queue.run(network, rows([1])), queue.run(network, rows([2]))]);
  expect(given).toEqual([[1], [2]]);
});

test('an input on which a network fails fails alone: the others in its batch are run again', async () => {
  const { queue } = queueOf();
  const { network, given } = addOne(8);
  const calls = [1, 13, 3].map((value) => queue.run(network, rows([value])));
  const settled = await Promise.allSettled(calls);
  expect(settled.map((call) => (call.status === 'fulfilled' ? valuesOf(call.value) : String(call.reason)))).toEqual([
    [2],
    'Error: unlucky',
    [4],
  ]);
  expect(given).toEqual([[1, 13, 3], [1], [13], [3]]);
});

test('an unreachable server gets one request per batch, and every call of the batch fails', async () => {
  const { queue, runs } = queueOf();
  const away = new ServiceError('model_unavailable', 'The model cannot be reached at the moment.');
  const network: Network = { ...addOne(8).network, run: () => Promise.reject(away) };
  const calls = [1, 2, 3].map((value) => rejectionOf(queue.run(network, rows([value]))));
  expect(await Promise.all(calls)).toEqual([away, away, away]);
  expect(runs.map(({ samples }) => samples)).toEqual([3]);
});

test('samples run one by one when a network returns the wrong number of outputs', async () => {
  const { queue } = queueOf();
  const { network } = addOne(8);
  const summing: Network = {
    ...network,
    run: async ({ x }) => {
      const sum = (x as FloatTensor).data.reduce((total, value) => total + value, 0);
      return { y: { type: 'float32', data: Float32Array.of(sum), dims: [1] } };
    },
  };
  const calls = [queue.run(summing, rows([1, 2])), queue.run(summing, rows([3, 4]))];
  expect((await Promise.all(calls)).map(valuesOf)).toEqual([[3], [7]]);
});

test('the queue skips an aborted call and runs the others', async () => {
  const { queue } = queueOf();
  const { network, given, hold, release } = addOne(8);
  hold();
  const first = queue.run(network, rows([1]));
  await begun(given);
  const leaving = new AbortController();
  const abandoned = rejectionOf(queue.run(network, rows([2]), leaving.signal));
  const last = queue.run(network, rows([3]));
  leaving.abort(new Error('canceled'));
  release();
  expect(await abandoned).toMatchObject({ message: 'canceled' });
  await Promise.all([first, last]);
  expect(given).toEqual([[1], [3]]);
});

test('the queue continues after a failed run', async () => {
  const { queue, runs } = queueOf();
  const { network } = addOne(8);
  expect(await rejectionOf(queue.run(network, rows([13])))).toMatchObject({ message: 'unlucky' });
  expect(valuesOf(await queue.run(network, rows([1])))).toEqual([2]);
  expect(runs).toHaveLength(2);
});
