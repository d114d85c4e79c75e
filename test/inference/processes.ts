/** Watching processes end. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** Resolves as soon as the condition holds; rejects when it does not within `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so after ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(10);
  }
}
