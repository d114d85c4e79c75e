/** `npm run worker:orchestration`: workflows, settlement, and the sweeper. */
import { createSettlementActivities } from '../activities/settlement-activities.ts';
import { createStageRecordActivities } from '../activities/stage-record-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { answersQueries } from '../db/answers-queries.ts';
import { openDatabase } from '../db/orm.ts';
import { createLogger } from '../logging.ts';
import { observeBacklog } from '../observability/backlog.ts';
import { observeSettlements } from '../observability/observed-settlements.ts';
import { startOperations } from '../observability/operations.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { openTemporalClient } from '../temporal/connect.ts';
import { installTemporalRuntime, runWorkers, versionedAs, WORKFLOWS_PATH } from './run-worker.ts';
import { startSweeper } from './sweeper.ts';

const config = readConfig('worker:orchestration');
const logger = createLogger('worker:orchestration', config.LOG_LEVEL);
const operations = await startOperations('worker:orchestration', config);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
const temporal = openTemporalClient({ address, namespace, plugins: operations.tracing.temporalPlugins });
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
observeBacklog({ registry: operations.metrics.registry, orm, temporal, logger });
operations.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address,
  namespace,
  logger,
  operations,
  workers: [
    {
      taskQueue: TASK_QUEUES.orchestration,
      workflowsPath: WORKFLOWS_PATH,
      activities: {
        ...createSettlementActivities({ orm, onSettled: observeSettlements(operations.metrics, logger) }),
        ...createStageRecordActivities({ orm, onStageEnded: (ended) => operations.metrics.stageEnded(ended) }),
      },
      ...versionedAs({
        deploymentName: `${config.TEMPORAL_DEPLOYMENT_NAME}-orchestration`,
        buildId: config.TEMPORAL_BUILD_ID,
        // A job ends soon after its pick-up: it stays with the build that began it.
        behavior: 'PINNED',
      }),
      shutdownGraceTime: '10 seconds',
    },
  ],
  async close() {
    await sweeper.stop();
    await temporal.connection.close();
    await orm.close();
  },
});
