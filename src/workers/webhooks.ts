/** `npm run worker:webhooks`: signed deliveries. The only process that connects to addresses which customers choose. */
import { createDeliveryActivities } from '../activities/delivery-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../db/orm.ts';
import { createWebhookClient } from '../delivery/webhook-client.ts';
import { createLogger } from '../logging.ts';
import { installTemporalLogger, runWorkers, WORKFLOWS_PATH } from './run-worker.ts';

/** Attempts wait for receivers most of their time, for up to 10 seconds each. */
const ATTEMPTS_AT_ONCE = 200;

const config = readConfig('worker:webhooks');
const logger = createLogger('worker:webhooks', config.LOG_LEVEL);
installTemporalLogger(logger);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const webhookClient = createWebhookClient({ allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS });

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  workers: [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowsPath: WORKFLOWS_PATH,
      activities: createDeliveryActivities({ orm, webhookClient, logger }),
      maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
      // An attempt under way ends within its limit.
      shutdownGraceTime: '15 seconds',
    },
  ],
  close: () => orm.close(),
});
