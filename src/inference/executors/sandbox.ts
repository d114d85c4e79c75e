/** What a child process may do besides computing: little, since it reads bytes chosen by strangers. */
import { execFile } from 'node:child_process';
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

/**
 * Flags of Node.js that leave a process the reading of its code and of these folders, native addons, and nothing more: no
 * other file, no file to write, no process, no thread, no inspector. It holds for JavaScript, not for native code.
 */
export function sandboxFlags(readableFolders: readonly string[]): string[] {
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
 * @throws Error when the bound cannot be set
 */
export async function boundMemory(pid: number, moreBytes: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const heldKilobytes = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]);
  try {
    await promisify(execFile)('prlimit', ['--pid', `${pid}`, `--data=${heldKilobytes * KILOBYTE + moreBytes}`]);
  } catch (cause) {
    throw new Error(
      'The memory of child processes cannot be bounded: prlimit (of util-linux) does not work. Install it, or set ' +
        'INFERENCE_WORKING_MEMORY_MB to 0.',
      { cause },
    );
  }
}
