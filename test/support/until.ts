import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves as soon as the condition holds; rejects after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so after ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(10);
  }
}
