import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Runtime, Worker } from '@temporalio/worker';
import { workflowBundlePath } from '../support/workers.ts';

const HISTORIES = fileURLToPath(new URL('histories/shadow-job', import.meta.url));
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

describe('a shadow started under an earlier version continues under this one', () => {
  let workflowBundle: { codePath: string };

  beforeAll(async () => {
    Runtime.install({ logger: silent });
    workflowBundle = { codePath: await workflowBundlePath() };
  });

  it.each(readdirSync(HISTORIES))('%s', async (file) => {
    const history: unknown = JSON.parse(readFileSync(`${HISTORIES}/${file}`, 'utf8'));
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).resolves.toBeUndefined();
  });
});
