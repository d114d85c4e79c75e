import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bundleWorkflowCode, Runtime, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

const HISTORIES = fileURLToPath(new URL('histories/deliver-webhook', import.meta.url));
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

describe('a delivery that began under an earlier version goes on under this one', () => {
  let workflowBundle: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    Runtime.install({ logger: silent });
    const workflowsPath = fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url));
    workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: silent });
  });

  it.each(readdirSync(HISTORIES))('%s', async (file) => {
    const history: unknown = JSON.parse(readFileSync(`${HISTORIES}/${file}`, 'utf8'));
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).resolves.toBeUndefined();
  });
});
