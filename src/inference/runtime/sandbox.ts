/** Restricts child processes, which read bytes chosen by strangers. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { InstalledModel } from '../models/registry.ts';
import type { ServedPipeline } from './messages.ts';

const KILOBYTE = 1024;

/**
 * Parts of this project that a child reads its code from, but not the folder around them, where `npm start` keeps files.
 * For a symbolic link, Node.js requires its target as well.
 */
const CODE = ['src/', 'node_modules/', 'package.json'].flatMap((part) => {
  const path = fileURLToPath(new URL(`../../../${part}`, import.meta.url));
  return existsSync(path) ? [...new Set([resolve(path), realpathSync(path)])] : [];
});

/** Part of util-linux. It has the kernel end a process with its parent, even one busy in native code. */
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => process.platform === 'linux' && existsSync(path));

export interface SandboxOptions {
  /** Files and folders that the process may read besides its code. */
  readable?: readonly string[];
  /** Variables that a device's libraries need; none of the service's own. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** `pipe` lets the caller read what its libraries print. */
  stderr?: 'inherit' | 'pipe';
}

/** Starts a process that reads bytes chosen by strangers. On Linux with `setpriv` it ends with this one. */
export function forkInSandbox(
  main: URL,
  { readable = [], environment = {}, stderr = 'inherit' }: SandboxOptions = {},
): ChildProcess {
  const flags = ['--disable-warning=ExperimentalWarning', ...sandboxFlags(readable)];
  return fork(main, {
    serialization: 'advanced',
    // No secrets for a process that decodes strangers' files. Two arenas: glibc's default lets decoding hoard memory.
    env: { MALLOC_ARENA_MAX: '2', ...environment },
    ...(SETPRIV
      ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...flags] }
      : { execArgv: flags }),
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
  });
}

/**
 * Node.js flags under which a process can read its code and these folders and load native addons, and nothing else: no
 * writes, no child processes, no threads, no inspector. They restrict JavaScript, not native code.
 */
function sandboxFlags(readableFolders: readonly string[]): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...[...CODE, ...readableFolders].map((path) => `--allow-fs-read=${resolve(path)}`),
    // Node.js warns of addons, which the process exists to run.
    '--disable-warning=SecurityWarning',
  ];
}

/** Folders of a model, of the models that it uses, and of the pipelines that run on it. */
export function foldersOf(model: InstalledModel, pipelines: readonly ServedPipeline[]): string[] {
  return [...modelFolders(model), ...pipelines.map(({ pipelineUrl }) => dirname(fileURLToPath(pipelineUrl)))];
}

function modelFolders({ directory, uses }: InstalledModel): string[] {
  return [directory, ...Object.values(uses).flatMap(modelFolders)];
}

/**
 * Limits a process to `moreBytes` beyond the memory that it holds now. The kernel enforces the limit: an allocation beyond it
 * fails, and the process with it. Private writable memory counts; address space that V8, CUDA and allocators merely reserve
 * does not (RLIMIT_DATA, Linux 4.7 and later). Other systems have no such limit.
 * @param mayChange whether another limit follows: only root could raise a final one
 * @throws Error when the bound cannot be set
 */
export async function boundMemory(pid: number, moreBytes: number, { mayChange = false } = {}): Promise<void> {
  if (process.platform !== 'linux') return;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const heldKilobytes = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]);
  try {
    await promisify(execFile)('prlimit', [
      '--pid',
      `${pid}`,
      `--data=${heldKilobytes * KILOBYTE + moreBytes}${mayChange ? ':' : ''}`,
    ]);
  } catch (cause) {
    throw new Error(
      'The memory of child processes cannot be limited: prlimit (from util-linux) does not work. Install it, or set ' +
        'INFERENCE_WORKING_MEMORY_MB to 0.',
      { cause },
    );
  }
}
