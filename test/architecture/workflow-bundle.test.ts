/** Workflows are deterministic: their bundle builds and contains nothing impure. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { DELIVER_WEBHOOK_WORKFLOW } from '../../src/contracts/deliver-webhook.ts';
import * as contracts from '../../src/contracts/run-job.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';
import { readSourceFiles } from './source-files.ts';

const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

let bundle: WorkflowBundle;

beforeAll(async () => {
  bundle = await bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, logger: QUIET });
});

describe('the bundle of workflows', () => {
  it('the bundle of workflows contains every workflow that is started by name', () => {
    for (const name of [contracts.RUN_JOB_WORKFLOW, DELIVER_WEBHOOK_WORKFLOW]) {
      expect(bundle.code).toContain(`async function ${name}(`);
    }
  });

  it('the bundle of workflows contains only workflows, contracts and the backoff schedule from the service', () => {
    const modules = [...bundle.code.matchAll(/\.\/(src\/[\w./-]+\.ts)/g)].map(([, path]) => path ?? '');
    expect(modules.length).toBeGreaterThan(0);
    const foreign = modules.filter(
      (path) => !/^src\/(?:workflows\/|contracts\/|webhooks\/backoff-schedule\.ts$)/.test(path),
    );
    expect([...new Set(foreign)]).toEqual([]);
  });

  it('the bundle of workflows stays small, because every start reads it whole', () => {
    expect(bundle.code.length).toBeLessThan(4_000_000);
  });
});

it('a workflow with an impure import cannot be bundled', async () => {
  const complaints: string[] = [];
  const bundled = bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./impure-workflow.ts', import.meta.url)),
    logger: { ...QUIET, error: (message) => complaints.push(message) },
  });
  await expect(bundled).rejects.toThrow(/errors/);
  expect(complaints.join()).toMatch(/node:fs/);
});

/** Deterministic by the SDK, or harmless; anything else that differs between replays is forbidden. */
const IMPURE = /\b(?:process\.|performance\.|fetch\(|setInterval\(|new Worker\(|crypto\.|import\()/;

it('no workflow uses anything that differs between replays', () => {
  for (const { path, text } of readSourceFiles('src/workflows/**/*.ts')) {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect({ path, impure: IMPURE.exec(code)?.[0] }).toEqual({ path, impure: undefined });
  }
});
