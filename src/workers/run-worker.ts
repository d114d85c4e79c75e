/** The common part of the worker processes. */
import { fileURLToPath } from 'node:url';
import type { VersioningBehavior } from '@temporalio/common';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { observeActivities } from '../observability/activity-telemetry.ts';
import type { Observability } from '../observability/observability.ts';
import { setTemporalSdkEnvironment } from '../platform/config/temporal-sdk.ts';
import { onShutdown } from '../platform/shutdown.ts';
import { FollowedQueues } from './followed-queues.ts';
import { PolledQueue } from './polled-queue.ts';

/** All workflows form one bundle, so every workflow worker can run every workflow. */
export const WORKFLOWS_PATH = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/**
 * Sends the Temporal SDK's log to the process's logger, and serves its metrics at `metricsAddress` (`host:port`; empty for
 * none). Call this before anything else of the SDK.
 */
export function installTemporalRuntime(logger: Logger, metricsAddress = ''): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  setTemporalSdkEnvironment();
  Runtime.install({
    // onShutdown handles all signals.
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
  /** Empty for unversioned workers. */
  buildId: string;
  /** `PINNED` keeps a workflow with the build that began it, `AUTO_UPGRADE` moves it to the current one. */
  behavior: VersioningBehavior;
}

/**
 * Makes a worker one build of a worker deployment: Temporal gives it the workflows of its own build, and new ones once the
 * build is current. The worker declares this, not its workflows: Temporal refuses the results of an unversioned worker for
 * a workflow that declares a behaviour.
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

/** For activities that are cancelled at the end of the grace to end, and for the last polls. */
const CANCELLATION_MS = 4_000;

type QueueOptions = Omit<WorkerOptions, 'connection' | 'namespace' | 'taskQueue' | 'shutdownGraceTime'> & {
  taskQueue: string;
  /** How long running activities may take to finish once the process is told to stop. */
  graceMs: number;
  /** Whether the process can serve the queue, checked every second. By default it always can. */
  isWanted?: () => boolean;
};

interface RunOptions {
  address: string;
  namespace: string;
  logger: Logger;
  observability: Observability;
  workers: readonly QueueOptions[];
  /** Closes the resources of the activities, after the last of them has ended. */
  close: () => Promise<void>;
}

/**
 * Runs workers until the process is told to stop, then lets activities finish within each worker's grace. Logs `worker ready`
 * once one of them polls. Ends the process with status 1 when Temporal is away at the start, or a worker fails permanently.
 */
export async function runWorkers(options: RunOptions): Promise<void> {
  const { address, namespace, logger, observability, close } = options;
  const fail = (err: unknown): never => {
    logger.fatal({ err }, 'worker failed');
    process.exit(1);
  };
  const connection = await NativeConnection.connect({ address }).catch(fail);
  const queues = options.workers.map(
    ({ isWanted = () => true, graceMs, ...worker }) =>
      new PolledQueue({
        taskQueue: worker.taskQueue,
        isWanted,
        createWorker: () =>
          Worker.create({
            connection,
            namespace,
            // In this order, so that the log lines of an activity name its span.
            plugins: [...observability.tracing.temporalPlugins, observeActivities(observability.metrics, logger)],
            ...worker,
            shutdownGraceTime: graceMs,
          }),
      }),
  );
  Promise.race(queues.map(({ failed }) => failed)).catch(fail);
  const followed = new FollowedQueues({ queues, logger });
  observability.readyWhen('polling', () => followed.arePolled);
  onShutdown(logger, {
    drain: () => followed.stop(),
    drainTimeoutMs: Math.max(...options.workers.map(({ graceMs }) => graceMs)) + CANCELLATION_MS,
    async close() {
      await close();
      await connection.close();
      await observability.close();
    },
  });
  await followed.begin().catch(fail);
}
