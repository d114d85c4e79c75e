/** The yardstick for the service: one process, one task queue, the SDK's default settings, an activity that returns. */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { onShutdown } from '../../src/platform/shutdown.ts';
import { BARE_TASK_QUEUE, type BareActivities } from './bare.ts';

const logger = createLogger('worker:bare', 'info');
Runtime.install({ shutdownSignals: [] });
const activities: BareActivities = { doNothing: async () => {} };
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
/** Longer than the one activity and the last polls take. */
const DRAIN_TIMEOUT_MS = 10_000;

const worker = await Worker.create({
  connection,
  namespace: 'default',
  taskQueue: BARE_TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('bare-workflow.ts', import.meta.url)),
  activities: { ...activities },
});
const running = worker.run();
running.catch((err: unknown) => {
  logger.fatal({ err }, 'worker failed');
  process.exit(1);
});
onShutdown(logger, {
  async drain() {
    worker.shutdown();
    await running;
  },
  drainTimeoutMs: DRAIN_TIMEOUT_MS,
  close: () => connection.close(),
});
logger.info('worker ready');
