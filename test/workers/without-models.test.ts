/** `npm run worker:inference` with a folder of models that is empty, fills, and is emptied again. */
import { mkdtempSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { readInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { installModel, manifestOfGuide } from '../inference/support/exported-models.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type TestProcess, useProcesses } from '../support/processes.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';

const processes = useProcesses();
const directory = mkdtempSync(join(tmpdir(), 'without-models-'));
const modelsDirectory = join(directory, 'models');

let database: TestDatabase;
let orm: MikroORM;
let port: number;
let worker: TestProcess;

beforeAll(async () => {
  const namespace = await createTestNamespace();
  [database, port] = [await createTestDatabase(), await findFreePort()];
  orm = await openDatabase({ url: database.url, poolSize: 1 });
  await mkdir(modelsDirectory);
  worker = await processes.start({
    entry: 'src/workers/inference.ts',
    environment: {
      SERVICE_ENVIRONMENT: 'development',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: namespace.address,
      TEMPORAL_NAMESPACE: namespace.namespace,
      STORAGE_DIRECTORY: join(directory, 'storage'),
      MODELS_DIRECTORY: modelsDirectory,
      INFERENCE_QUEUES: 'inference-gpu,inference-heavy',
      METRICS_ADDRESS: `127.0.0.1:${port}`,
    },
    ready: { line: says('nothing can be served: task queues are not polled') },
  });
}, 240_000);
afterAll(async () => {
  await orm.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

function says(message: string): (line: string) => boolean {
  return (line) => line.includes(`"msg":"${message}"`);
}

async function readiness(): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  return { status: answer.status, body: await answer.json() };
}

const announced = async () => [...(await readInstalledEndpoints(orm.em.fork())).keys()];

it('a worker polls nothing and is not ready until a model arrives, and stops polling when the last one goes', async () => {
  const idle = { status: 503, body: { status: 'unavailable', checks: { database: true, polling: false } } };
  expect([await readiness(), await announced()]).toEqual([idle, []]);

  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  await worker.waitForLine(says('worker ready'), 150_000);
  await until(async () => (await announced()).length > 0 && (await readiness()).status === 200);
  expect(await announced()).toEqual(['tire.detect']);

  await rm(join(modelsDirectory, 'my-tires'), { recursive: true });
  await worker.waitForLine(says('nothing can be served any more: task queues are not polled'), 150_000);
  await until(async () => (await announced()).length === 0);
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
}, 480_000);
