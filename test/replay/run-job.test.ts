import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { installQuietRuntime } from '../support/temporal-runtime.ts';
import { workflowBundlePath } from '../support/workers.ts';

const HISTORIES = fileURLToPath(new URL('histories/run-job', import.meta.url));
const files = readdirSync(HISTORIES);

interface History {
  events: { eventType: string; [attributes: string]: unknown }[];
}

const readHistory = (file: string): History => JSON.parse(readFileSync(`${HISTORIES}/${file}`, 'utf8'));

let codePath: string;

beforeAll(async () => {
  installQuietRuntime();
  codePath = await workflowBundlePath();
});

const replay = (history: unknown) => Worker.runReplayHistory({ workflowBundle: { codePath } }, history);

describe('a job that began under an earlier release', () => {
  it.each(files)('a job that began under an earlier release continues under this one: %s', async (file) => {
    await expect(replay(readHistory(file))).resolves.toBeUndefined();
  });
});

describe('the histories', () => {
  it('the histories cover every branch: each event that distinguishes branches occurs', () => {
    const seen = new Set(files.flatMap((file) => readHistory(file).events.map(({ eventType }) => eventType)));
    for (const event of [
      'ACTIVITY_TASK_COMPLETED',
      'ACTIVITY_TASK_FAILED',
      'ACTIVITY_TASK_TIMED_OUT',
      'ACTIVITY_TASK_CANCEL_REQUESTED',
      'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
      'WORKFLOW_EXECUTION_CANCEL_REQUESTED',
      'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
    ]) {
      expect([...seen]).toContain(`EVENT_TYPE_${event}`);
    }
  });

  it('the histories name neither a machine nor a folder', () => {
    for (const file of files) expect(JSON.stringify(readHistory(file))).not.toMatch(/\/(?:home|root|work|tmp)\//);
  });
});

it('the replay refuses a history that this release would not have made', async () => {
  const [file = ''] = files.filter((name) => name === 'succeeded.json');
  const history = readHistory(file);
  const broken = JSON.parse(JSON.stringify(history).replaceAll('runInference', 'anotherActivity'));
  await expect(replay(broken)).rejects.toThrow(/nondeterminism|determinism/i);
});
