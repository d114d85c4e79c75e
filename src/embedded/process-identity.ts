/**
 * Which process a number means. A process id alone is reused, within seconds in a small container; together with the
 * moment the process began it names one process for good, so nothing is ever signalled that isn't ours.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque; equal for the same process only, also across a reboot. */
  startedAt: string;
}

/** The process which has this id now; null when there is none (a zombie is none: it holds nothing any more). */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? startedAtFromProc(pid) : startedAtFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startedAt === startedAt;
}

/** How a process was called, its arguments separated by spaces; empty when it can't be told. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
  return ps(pid, 'command=');
}

/** Signals the process when it is still the one meant. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

/** Waits until the process has ended; false when it still runs after the time. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isRunning(identity)) {
    if (performance.now() >= deadlineMs) return false;
    await sleep(20);
  }
  return true;
}

/** Field 22 of /proc/<pid>/stat counts ticks since the boot, so the boot's own id belongs to it. */
function startedAtFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may itself hold spaces and brackets.
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
