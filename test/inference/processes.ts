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
