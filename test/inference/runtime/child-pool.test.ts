/** Forks that fail: the system has no memory, or no files, left for a process. */
import { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import { createModelFolder } from '../../../src/inference/models/registry.ts';
import { ChildPool, type ChildPoolOptions } from '../../../src/inference/runtime/child-pool.ts';
import { CPU } from '../../../src/inference/runtime/devices.ts';
import { forkInferenceChild } from '../../../src/inference/runtime/fork-inference-child.ts';
import { pipelineUrl } from '../../../src/inference/toolkit/endpoint-folder.ts';
import { until } from '../../support/until.ts';
import { isRunning } from '../support/processes.ts';
import { endpointsDirectory, modelsDirectory, recordingLog } from '../support/tiny-endpoint.ts';

type Fork = typeof forkInferenceChild;

const { log, lines } = recordingLog();
const model = (await createModelFolder(fileURLToPath(modelsDirectory), log).read()).find('tiny');
const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const never = new AbortController().signal;

let pool: ChildPool;
/** The processes that were started. */
let started: number[];

function open(forks: Fork[], changes: Partial<ChildPoolOptions> = {}): ChildPool {
  if (!model) throw new Error('the model tiny is not there');
  started = [];
  lines.length = 0;
  pool = new ChildPool({
    model,
    pipelines: [{ endpoint: 'tiny.add', pipelineUrl: pipelineUrl(endpointsDirectory, 'tiny.add').href }],
    devices: [CPU],
    processes: 1,
    threads: 1,
    tasksAtOnce: 1,
    logger: log,
    restartDelayMs: 1,
    graceMs: 200,
    fork: (options) => (forks.shift() ?? real)(options),
    ...changes,
  });
  return pool;
}

afterEach(async () => {
  await pool.close();
  expect(await Promise.all(started.map(isRunning))).not.toContain(true);
});

const real: Fork = (options) => {
  const child = forkInferenceChild(options);
  if (child.pid !== undefined) started.push(child.pid);
  return child;
};

const withoutMemory: Fork = () => {
  throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
};

/** What Node.js returns then: a process without a channel, whose error follows. */
const withoutFiles: Fork = () => {
  const child = new ChildProcess();
  process.nextTick(() => child.emit('error', Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' })));
  return child;
};

const replaced = () => lines.filter(({ message }) => /is replaced/.test(message)).length;

test('a lost process is replaced as soon as one can be started', async () => {
  const { ready } = open([real, withoutMemory, withoutFiles]);
  await ready;
  process.kill(started[0] as number, 'SIGKILL');
  await until(() => replaced() === 3);
  const files = [{ mediaType: 'image/png', content: picture }];
  expect(await pool.run({ endpoint: 'tiny.add', files, parameters: {} }, never)).toMatchObject({ sum: 42 });
  expect(started).toHaveLength(2);
  expect(pool.pids).toEqual([started[1]]);
});

test.each([
  { what: 'memory', fork: withoutMemory, reason: 'spawn ENOMEM' },
  { what: 'files', fork: withoutFiles, reason: 'spawn EMFILE' },
])('a pool that has no $what for its second process says so, and leaves none behind', async ({ fork, reason }) => {
  const { ready } = open([real, fork], { processes: 2, restartDelayMs: 60_000 });
  await expect(ready).rejects.toThrow(reason);
  expect(pool.pids).toEqual(started);
  expect(started).toHaveLength(1);
});
