/** How the processes are started that decode strangers' files and run models. */
import { type ChildProcess, fork } from 'node:child_process';
import { sandboxFlags } from './sandbox.ts';

const MAIN = new URL('./child-main.ts', import.meta.url);

/**
 * @param environment what the libraries of a device need; nothing of the service's own
 * @param readableFolders what it may read besides its code
 * @param stderr where what its libraries print goes: to the worker's own, unless it is to be read
 */
export function forkChild(
  environment: Readonly<Record<string, string>> = {},
  readableFolders: readonly string[] = [],
  stderr: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  return fork(MAIN, {
    serialization: 'advanced',
    // No secrets for a process that decodes strangers' files. Two arenas: glibc's default lets decoding hoard memory.
    env: { MALLOC_ARENA_MAX: '2', ...environment },
    execArgv: ['--disable-warning=ExperimentalWarning', ...sandboxFlags(readableFolders)],
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
  });
}
