import { parentPort } from 'node:worker_threads';
import { CPU_WORK_MS } from './cpu-work.ts';

parentPort?.on('message', () => {
  const endUs = usedUs() + CPU_WORK_MS * 1_000;
  while (usedUs() < endUs);
  parentPort?.postMessage('done');
});

/** CPU time of this thread alone: on a busy machine the clock would run on while it waits for a core. */
function usedUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
