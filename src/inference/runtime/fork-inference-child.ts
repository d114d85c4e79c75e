/** Starts the process that runs networks: `child-main.ts`, in the sandbox. */
import type { ChildProcess } from 'node:child_process';
import { forkInSandbox, type SandboxOptions } from './sandbox.ts';

const MAIN = new URL('./child-main.ts', import.meta.url);

export function forkInferenceChild(options: SandboxOptions): ChildProcess {
  return forkInSandbox(MAIN, options);
}
