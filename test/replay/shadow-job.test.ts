import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { installQuietRuntime } from '../support/temporal-runtime.ts';
import { workflowBundlePath } from '../support/workers.ts';

const HISTORIES = fileURLToPath(new URL('histories/shadow-job', import.meta.url));

describe('a run in the shadow started under an earlier version', () => {
  let workflowBundle: { codePath: string };

  beforeAll(async () => {
    installQuietRuntime();
    workflowBundle = { codePath: await workflowBundlePath() };
  });

  it.each(readdirSync(HISTORIES))(
    'a run in the shadow started under an earlier version continues under this one: %s',
    async (file) => {
      const history: unknown = JSON.parse(readFileSync(`${HISTORIES}/${file}`, 'utf8'));
      await expect(Worker.runReplayHistory({ workflowBundle }, history)).resolves.toBeUndefined();
    },
  );
});
