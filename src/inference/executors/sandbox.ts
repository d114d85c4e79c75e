/** What a child process may do besides computing: little, since it reads bytes chosen by strangers. */
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
 * Parts of this project that a child reads its code from; not the folder around them, where `npm start` keeps files. Where
 * one is a link, Node.js asks for what it leads to as well.
 */
const CODE = ['src/', 'node_modules/', 'package.json'].flatMap((part) => {
  const path = fileURLToPath(new URL(`../../../${part}`, import.meta.url));
  return existsSync(path) ? [...new Set([resolve(path), realpathSync(path)])] : [];
});

/** Of util-linux: has the kernel end a process with its parent, whatever native code it is in. */
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => process.platform === 'linux' && existsSync(path));

interface SandboxOptions {
  /** Files and folders that it may read besides its code. */
  readable?: readonly string[];
  /** What the libraries of a device need; nothing of the service's own. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** Where what its libraries print goes: to the worker's own, unless it is to be read. */
  stderr?: 'inherit' | 'pipe';
}

/** Starts a process that reads bytes chosen by strangers. It ends with this one, where the system knows how to do that. */
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
 * Flags of Node.js that leave a process the reading of its code and of these folders, native addons, and nothing more: no
 * other file, no file to write, no process, no thread, no inspector. It holds for JavaScript, not for native code.
 */
function sandboxFlags(readableFolders: readonly string[]): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...[...CODE, ...readableFolders].map((path) => `--allow-fs-read=${resolve(path)}`),
    // It warns of addons, which are what the process is for.
    '--disable-warning=SecurityWarning',
  ];
}

/** Where a model lies, with those that it uses, and the pipelines that run on it. */
export function foldersOf(model: InstalledModel, pipelines: readonly ServedPipeline[]): string[] {
  return [...modelFolders(model), ...pipelines.map(({ pipelineUrl }) => dirname(fileURLToPath(pipelineUrl)))];
}

function modelFolders({ directory, uses }: InstalledModel): string[] {
  return [directory, ...Object.values(uses).flatMap(modelFolders)];
}

/**
 * Bounds the memory of a process at what it holds now and so much more. The kernel keeps the bound: what goes beyond is
 * refused to the process, which then fails or ends. Counted is private writable memory, so that what V8, CUDA and
 * allocators only reserve costs nothing (RLIMIT_DATA, Linux 4.7 and later). Other systems have no such bound.
 * @param mayChange whether another bound follows: only root could widen a final one
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
      'The memory of child processes cannot be bounded: prlimit (of util-linux) does not work. Install it, or set ' +
        'INFERENCE_WORKING_MEMORY_MB to 0.',
      { cause },
    );
  }
}
