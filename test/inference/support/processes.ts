/** Watching processes end. */
import { readFile } from 'node:fs/promises';

/** False for a process that is gone, also for one that only waits for its parent to notice. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return !/^\d+ \(.*\) Z/.test(state);
  } catch {
    return false;
  }
}

/** Lets a waiting job of `tiny.add` continue, in any of the processes. */
export async function letGo<Result>(job: Promise<Result>, pids: () => readonly number[]): Promise<Result> {
  // A signal that a process which is only starting lets pass.
  const signalling = setInterval(() => {
    for (const pid of pids()) process.kill(pid, 'SIGWINCH');
  }, 10);
  return job.finally(() => clearInterval(signalling));
}

/** Whether a process uses a processor just now. Linux only. */
export async function isComputing(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('R');
}
