import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { FAULTS } from './table.ts';

it.each(FAULTS.map(({ fault, files }) => ({ fault, files })))('$fault: its test files are there', ({ files }) => {
  for (const file of files) expect([file, existsSync(join(PROJECT_DIRECTORY, file))]).toEqual([file, true]);
});

it('the table lists every test file of the faults', () => {
  const listed = new Set(FAULTS.flatMap(({ files }) => files));
  const own = globSync('test/faults/*.test.ts', { cwd: PROJECT_DIRECTORY });
  expect(own.filter((file) => !listed.has(file) && !file.endsWith('table.test.ts'))).toEqual([]);
});
