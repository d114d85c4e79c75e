/**
 * Identifies processes. A process id alone is reused, within seconds in a small container. Together with the start time it
 * names one process permanently, so we never signal a process that is not ours. No package gives the exact start time:
 * `ps-list` rounds it to a second, and `pidusage` gives only the elapsed time.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque; equal only for the same process, even across a reboot. */
  startedAt: string;
}

/** The process that has this id now; null if there is none. A zombie counts as none: it holds no resources. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? startedAtFromProc(pid) : startedAtFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startedAt === startedAt;
}

/** The command line of a process, separated by spaces; empty if unknown. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
  return ps(pid, 'command=');
}

/** Signals the process if it is still the same one. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
}

/** Waits until the process has ended; false if it still runs after the timeout. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isRunning(identity)) {
    if (performance.now() >= deadlineMs) return false;
    await sleep(20);
  }
  return true;
}

/** Field 22 of /proc/<pid>/stat counts ticks since the boot, so the boot id is part of the identity. */
function startedAtFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may itself contain spaces and brackets.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${bootId}/${fields[18]}`;
  } catch {
    return null;
  }
}

function startedAtFromPs(pid: number): string | null {
  const [state, ...started] = ps(pid, 'state=,lstart=').split(/\s+/);
  if (!state || state.startsWith('Z')) return null;
  return started.join(' ');
}

function ps(pid: number, columns: string): string {
  return spawnSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
}
