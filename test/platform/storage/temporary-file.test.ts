/** What befalls a stream before its file is there ends the call, and never the process: tested in a separate process. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temporary-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `steps` on the stream `content` while its file is made, then prints how the call and the stream ended. */
function run(steps: string, temporaryFolder: string) {
  const program = `
    import { PassThrough } from 'node:stream';
    import { setImmediate as nextTurn } from 'node:timers/promises';
    import { withTemporaryFile } from './src/platform/storage/temporary-file.ts';

    const content = new PassThrough();
    const called = withTemporaryFile(content, async () => 'used').catch(({ code, message }) => code ?? message);
    ${steps}
    process.stdout.write((await called) + ' ' + content.destroyed + '\\n');
    content.destroy(new Error('late'));
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: PROJECT_DIRECTORY,
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, TMPDIR: temporaryFolder },
  });
  return [status, stdout, stderr];
}

it('a call without a folder for its temporary file is rejected, and its stream destroyed', () => {
  expect(run('', join(folder, 'missing'))).toEqual([0, 'ENOENT true\n', '']);
});

it('a stream that fails before its file is there rejects the call, and leaves no file', () => {
  expect(run("content.destroy(new Error('cut off'));", folder)).toEqual([0, 'cut off true\n', '']);
  expect(readdirSync(folder)).toEqual([]);
});

it('a stream whose file is used is gone, and so is its file', () => {
  expect(run("content.end('whole');", folder)).toEqual([0, 'used true\n', '']);
  expect(readdirSync(folder)).toEqual([]);
});
