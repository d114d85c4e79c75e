/** What becomes of a process whose log cannot be written. */
import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';

const program = `
import { createLogger } from './src/platform/logging/logger.ts';
const logger = createLogger('test', 'info');
for (let line = 0; line < 100; line += 1) logger.info({ line, text: 'x'.repeat(100_000) }, 'lost');
`;

it('a process whose output is on a full disk goes on', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: PROJECT_DIRECTORY,
    encoding: 'utf8',
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  expect([status, stderr]).toEqual([0, '']);
});
