import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { FolderLockedError, lockFolder, lockHolder } from '../../src/embedded/folder-lock.ts';
import { identifyProcess } from '../../src/embedded/process-identity.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'folder-lock-'));
});

it('refuses a folder locked by a running process, and names the process', async () => {
  const holder = spawn('sleep', ['60']);
  await once(holder, 'spawn');
  writeFileSync(join(directory, 'lock.json'), JSON.stringify(identifyProcess(holder.pid as number)));
  expect(() => lockFolder(directory)).toThrow(FolderLockedError);
  expect(() => lockFolder(directory)).toThrow(`process ${holder.pid}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
});

it('takes over the lock of a dead process', () => {
  writeFileSync(join(directory, 'lock.json'), JSON.stringify({ pid: process.pid, startedAt: 'an earlier life' }));
  expect(lockHolder(directory)).toBeNull();
  lockFolder(directory);
  expect(lockHolder(directory)?.pid).toBe(process.pid);
});

it('takes over a lock that a kill left half-written', () => {
  writeFileSync(join(directory, 'lock.json'), '{"pid":');
  lockFolder(directory);
  expect(lockHolder(directory)?.pid).toBe(process.pid);
});

it('leaves nothing behind once released', () => {
  lockFolder(directory).release();
  expect(readdirSync(directory)).toEqual([]);
});
