/**
 * Allows one process per folder: two supervisors would run two PostgreSQL servers on the same files. `proper-lockfile` does
 * not fit: it recognises a dead holder only by the age of the lock, and the next start after a kill must not wait for that.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess, isRunning, type ProcessIdentity } from './process-identity.ts';

export class FolderLockedError extends Error {
  readonly pid: number;

  constructor(directory: string, pid: number) {
    super(`${directory} is in use by process ${pid}`);
    this.name = 'FolderLockedError';
    this.pid = pid;
  }
}

export interface FolderLock {
  release(): void;
}

/**
 * Locks the folder for this process, and creates it if missing. Takes over the lock of a dead process.
 *
 * @throws FolderLockedError when a running process holds it.
 */
export function lockFolder(directory: string): FolderLock {
  mkdirSync(directory, { recursive: true });
  const lockPath = join(directory, 'lock.json');
  const ownPath = `${lockPath}.${process.pid}`;
  const identity = JSON.stringify(identifyProcess(process.pid));
  writeFileSync(ownPath, identity);
  try {
    while (!tryLink(ownPath, lockPath)) removeStaleLock(directory, lockPath);
  } finally {
    rmSync(ownPath, { force: true });
  }
  return {
    release() {
      if (readIfPresent(lockPath) === identity) rmSync(lockPath, { force: true });
    },
  };
}

/** The running process that holds the folder; null if there is none. */
export function lockHolder(directory: string): ProcessIdentity | null {
  const holder = parseIdentity(readIfPresent(join(directory, 'lock.json')));
  return holder && isRunning(holder) ? holder : null;
}

/** A link, unlike a written file, appears complete, and it fails if the name exists: one atomic step with one winner. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeStaleLock(directory: string, lockPath: string): void {
  const holder = lockHolder(directory);
  if (holder) throw new FolderLockedError(directory, holder.pid);
  // Another process may have replaced the stale lock since the check. So the lock is checked again once it is moved aside, and
  // put back if its holder is alive.
  const asidePath = `${lockPath}.stale-${process.pid}`;
  try {
    renameSync(lockPath, asidePath);
  } catch {
    return;
  }
  const moved = parseIdentity(readIfPresent(asidePath));
  if (moved && isRunning(moved)) tryLink(asidePath, lockPath);
  rmSync(asidePath, { force: true });
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function parseIdentity(text: string | null): ProcessIdentity | null {
  try {
    return text === null ? null : (JSON.parse(text) as ProcessIdentity);
  } catch {
    return null;
  }
}
