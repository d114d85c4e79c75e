/**
 * The yardstick for jobs that compute: a job queue within PostgreSQL. It makes the same writes as the service,
 * pick-up and settlement, with the service's own functions, and does the same work.
 */
import { Logger, run } from 'graphile-worker';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { openDatabase } from '../../src/database.ts';
import { readJob } from '../../src/jobs/jobs-store.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { onShutdown } from '../../src/platform/shutdown.ts';
import { CPU_WORK_MODEL, startCpuWork } from './cpu-work.ts';
import { GRAPHILE_TASK, type GraphileJob } from './graphile.ts';

/** The concurrency of an inference worker. */
const CONCURRENCY = 16;
const POOL_SIZE = 10;

const logger = createLogger('worker:graphile', 'info');
const url = process.env.DATABASE_URL ?? '';
const orm = await openDatabase({ url, poolSize: POOL_SIZE });
const { settleJob } = createSettlementActivities({ orm });
const work = startCpuWork();
/** Longer than the jobs in hand take. */
const DRAIN_TIMEOUT_MS = 10_000;

const runner = await run({
  connectionString: url,
  concurrency: CONCURRENCY,
  maxPoolSize: POOL_SIZE,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: {
    async [GRAPHILE_TASK](payload) {
      const { jobId } = payload as GraphileJob;
      const em = orm.em.fork();
      const { reservedCredits } = await readJob(em, jobId);
      await pickUpJob(em, jobId, CPU_WORK_MODEL, new Date());
      await work.run();
      const outcome = { status: 'succeeded', result: { nothing: null }, error: null } as const;
      await settleJob({ jobId, outcome: { ...outcome, chargedCredits: reservedCredits }, failure: null });
    },
  },
});
onShutdown(logger, {
  drain: () => runner.stop(),
  drainTimeoutMs: DRAIN_TIMEOUT_MS,
  async close() {
    await work.close();
    await orm.close();
  },
});
logger.info('worker ready');
