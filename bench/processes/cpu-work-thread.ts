import { parentPort } from 'node:worker_threads';
import { CPU_WORK_MS } from './cpu-work.ts';

parentPort?.on('message', () => {
  const endUs = usedUs() + CPU_WORK_MS * 1_000;
  while (usedUs() < endUs);
  parentPort?.postMessage('done');
});

/** CPU time of this thread: on a busy machine, wall time would include the wait for a core. */
function usedUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
