/** What the worker processes have in common. */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { onShutdown } from '../shutdown.ts';

/** The folder of workflows is bundled as one; every workflow worker can run every workflow. */
export const WORKFLOWS_PATH = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/** Sends what the Temporal SDK logs to the process's logger. Call it before anything else of the SDK. */
export function installTemporalLogger(logger: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  Runtime.install({
    // Signals are handled in one place, by onShutdown.
    shutdownSignals: [],
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

interface RunOptions {
  address: string;
  namespace: string;
  logger: Logger;
  workers: readonly Omit<WorkerOptions, 'connection' | 'namespace'>[];
  /** Closes what the activities used, after the last of them has ended. */
  close: () => Promise<void>;
}

/** Runs workers until the process is told to stop; then lets what runs finish within each worker's grace time. */
export async function runWorkers({ address, namespace, logger, workers: options, close }: RunOptions): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const workers = await Promise.all(options.map((option) => Worker.create({ connection, namespace, ...option })));
  const running = Promise.all(workers.map((worker) => worker.run()));
  running.catch((err: unknown) => {
    logger.fatal({ err }, 'worker failed');
    process.exit(1);
  });
  onShutdown(logger, async () => {
    for (const worker of workers) worker.shutdown();
    await running;
    await close();
    await connection.close();
  });
  logger.info({ taskQueues: options.map((option) => option.taskQueue) }, 'worker ready');
}
