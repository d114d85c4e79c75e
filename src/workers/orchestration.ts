/** `npm run worker:orchestration`: workflows, settlement, and the sweeper. */
import { createSettlementActivities } from '../activities/settlement-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../db/orm.ts';
import { createLogger } from '../logging.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { openTemporalClient } from '../temporal/connect.ts';
import { installTemporalLogger, runWorkers, WORKFLOWS_PATH } from './run-worker.ts';
import { startSweeper } from './sweeper.ts';

const config = readConfig('worker:orchestration');
const logger = createLogger('worker:orchestration', config.LOG_LEVEL);
installTemporalLogger(logger);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
const temporal = openTemporalClient({ address, namespace });
const sweeper = startSweeper({ orm, temporal, store: createDiskStore(config.STORAGE_DIRECTORY), logger });

await runWorkers({
  address,
  namespace,
  logger,
  workers: [
    {
      taskQueue: TASK_QUEUES.orchestration,
      workflowsPath: WORKFLOWS_PATH,
      activities: createSettlementActivities({ orm }),
      shutdownGraceTime: '10 seconds',
    },
  ],
  async close() {
    await sweeper.stop();
    await temporal.connection.close();
    await orm.close();
  },
});
