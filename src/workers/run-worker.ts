/** What the worker processes have in common. */
import { fileURLToPath } from 'node:url';
import type { VersioningBehavior } from '@temporalio/common';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { setTemporalSdkEnvironment } from '../config/temporal-sdk.ts';
import { observeActivities } from '../observability/activity-telemetry.ts';
import type { Operations } from '../observability/operations.ts';
import { onShutdown } from '../shutdown.ts';
import { FollowedQueues } from './followed-queues.ts';
import { PolledQueue } from './polled-queue.ts';

/** The folder of workflows is bundled as one; every workflow worker can run every workflow. */
export const WORKFLOWS_PATH = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/**
 * Sends what the Temporal SDK logs to the process's logger, and serves what it measures at `metricsAddress`
 * (`host:port`; empty: nowhere). Call it before anything else of the SDK.
 */
export function installTemporalRuntime(logger: Logger, metricsAddress = ''): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  setTemporalSdkEnvironment();
  Runtime.install({
    // Signals are handled in one place, by onShutdown.
    shutdownSignals: [],
    ...(metricsAddress !== '' && {
      telemetryOptions: {
        metrics: {
          prometheus: {
            bindAddress: metricsAddress,
            countersTotalSuffix: true,
            unitSuffix: true,
            useSecondsForDurations: true,
          },
        },
      },
    }),
    logger: {
      log: (level, message, meta) => logger[levels[level]](meta ?? {}, message),
      trace: (message, meta) => logger.trace(meta ?? {}, message),
      debug: (message, meta) => logger.debug(meta ?? {}, message),
      info: (message, meta) => logger.debug(meta ?? {}, message),
      warn: (message, meta) => logger.warn(meta ?? {}, message),
      error: (message, meta) => logger.error(meta ?? {}, message),
    },
  });
}

interface Build {
  deploymentName: string;
  /** Empty: nothing is versioned. */
  buildId: string;
  /** `PINNED` keeps a workflow with the build that began it, `AUTO_UPGRADE` moves it to the current one. */
  behavior: VersioningBehavior;
}

/**
 * Makes a worker one build of a worker deployment: Temporal then gives it the workflows of its own build, and new ones
 * once the build is the current one. It is said of the worker, not in its workflows: Temporal refuses what an unversioned
 * worker has done of a workflow that says so itself.
 */
export function versionedAs({
  deploymentName,
  buildId,
  behavior,
}: Build): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (buildId === '') return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: behavior,
    },
  };
}

type QueueOptions = Omit<WorkerOptions, 'connection' | 'namespace' | 'taskQueue'> & {
  taskQueue: string;
  /** Whether the process can do what comes in on the queue, looked at every second; left out, it always can. */
  isWanted?: () => boolean;
};

interface RunOptions {
  address: string;
  namespace: string;
  logger: Logger;
  operations: Operations;
  workers: readonly QueueOptions[];
  /** Closes what the activities used, after the last of them has ended. */
  close: () => Promise<void>;
}

/**
 * Runs workers until the process is told to stop; then lets what runs finish within each worker's grace time. Logs
 * `worker ready` once one of them polls.
 */
export async function runWorkers(options: RunOptions): Promise<void> {
  const { address, namespace, logger, operations, close } = options;
  const connection = await NativeConnection.connect({ address });
  const queues = options.workers.map(
    ({ isWanted = () => true, ...worker }) =>
      new PolledQueue({
        taskQueue: worker.taskQueue,
        isWanted,
        createWorker: () =>
          Worker.create({
            connection,
            namespace,
            // In this order: what is logged of an activity names its span.
            plugins: [...operations.tracing.temporalPlugins, observeActivities(operations.metrics, logger)],
            ...worker,
          }),
      }),
  );
  Promise.race(queues.map(({ failed }) => failed)).catch((err: unknown) => {
    logger.fatal({ err }, 'worker failed');
    process.exit(1);
  });
  const followed = new FollowedQueues({ queues, logger });
  operations.readyWhen('polling', () => followed.arePolled);
  onShutdown(logger, async () => {
    await followed.stop();
    await close();
    await connection.close();
    await operations.close();
  });
  await followed.begin();
}
