/** `npm run worker:orchestration`: workflows, settlement, and the sweeper. */
import { createSettlementActivities } from '../activities/settlement-activities.ts';
import { createStageRecordActivities } from '../activities/stage-record-activities.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../database.ts';
import { observeBacklog } from '../observability/backlog.ts';
import { startObservability } from '../observability/observability.ts';
import { observeSettlements } from '../observability/observed-settlements.ts';
import { readConfig } from '../platform/config/config.ts';
import { answersQueries } from '../platform/database/health.ts';
import { BATCH_STATEMENT_TIMEOUT_MS } from '../platform/database/timeouts.ts';
import { createLogger } from '../platform/logging/logger.ts';
import { createDiskStore } from '../platform/storage/disk-store.ts';
import { openTemporalClient } from '../platform/temporal/connect.ts';
import { installTemporalRuntime, runWorkers, versionedAs, WORKFLOWS_PATH } from './run-worker.ts';
import { startSweeper } from './sweeper.ts';

const config = readConfig('worker:orchestration');
const observability = await startObservability('worker:orchestration', config);
const logger = createLogger('worker:orchestration', config.LOG_LEVEL, observability.tracing);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({
  url: config.DATABASE_URL,
  poolSize: config.DATABASE_POOL_SIZE,
  // The sweeper deletes in batches.
  statementTimeoutMs: BATCH_STATEMENT_TIMEOUT_MS,
});
const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
const temporal = openTemporalClient({ address, namespace, plugins: observability.tracing.temporalPlugins });
const sweeper = startSweeper({
  orm,
  temporal,
  store: createDiskStore(config.STORAGE_DIRECTORY),
  logger,
  retentionDays: {
    inputs: config.INPUT_RETENTION_DAYS,
    results: config.RESULT_RETENTION_DAYS || null,
    events: config.EVENT_RETENTION_DAYS,
  },
});
observeBacklog({ registry: observability.metrics.registry, orm, temporal, logger });
observability.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address,
  namespace,
  logger,
  observability,
  workers: [
    {
      taskQueue: TASK_QUEUES.orchestration,
      workflowsPath: WORKFLOWS_PATH,
      activities: {
        ...createSettlementActivities({ orm, onSettled: observeSettlements(observability.metrics, logger) }),
        ...createStageRecordActivities({ orm, onStageEnded: (ended) => observability.metrics.stageEnded(ended) }),
      },
      ...versionedAs({
        deploymentName: `${config.TEMPORAL_DEPLOYMENT_NAME}-orchestration`,
        buildId: config.TEMPORAL_BUILD_ID,
        // A job ends soon after its pick-up, so it stays with the build that began it.
        behavior: 'PINNED',
      }),
      graceMs: 10_000,
    },
  ],
  async close() {
    await sweeper.stop();
    await temporal.connection.close();
    await orm.close();
  },
});
