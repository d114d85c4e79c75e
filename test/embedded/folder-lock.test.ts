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

it('a folder locked by a running process is refused, and the process named', async () => {
  const holder = spawn('sleep', ['60']);
  await once(holder, 'spawn');
  writeFileSync(join(directory, 'lock.json'), JSON.stringify(identifyProcess(holder.pid as number)));
  expect(() => lockFolder(directory)).toThrow(FolderLockedError);
  expect(() => lockFolder(directory)).toThrow(`process ${holder.pid}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
});

it('the lock of a dead process is taken over', () => {
  writeFileSync(join(directory, 'lock.json'), JSON.stringify({ pid: process.pid, startedAt: 'an earlier life' }));
  expect(lockHolder(directory)).toBeNull();
  lockFolder(directory);
  expect(lockHolder(directory)?.pid).toBe(process.pid);
});

it('a lock that a kill left half-written is taken over', () => {
  writeFileSync(join(directory, 'lock.json'), '{"pid":');
  lockFolder(directory);
  expect(lockHolder(directory)?.pid).toBe(process.pid);
});

it('a released lock leaves nothing behind', () => {
  lockFolder(directory).release();
  expect(readdirSync(directory)).toEqual([]);
});
