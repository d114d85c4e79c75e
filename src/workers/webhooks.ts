/** `npm run worker:webhooks`: signed deliveries. The only process that connects to addresses which customers choose. */
import { createDeliveryActivities } from '../activities/delivery-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { answersQueries } from '../db/answers-queries.ts';
import { openDatabase } from '../db/orm.ts';
import { createWebhookClient } from '../delivery/webhook-client.ts';
import { createSealedSecrets } from '../domain/sealed-secrets.ts';
import { createLogger } from '../logging.ts';
import { observeDeliveries } from '../observability/observed-deliveries.ts';
import { startOperations } from '../observability/operations.ts';
import { installTemporalRuntime, runWorkers, versionedAs, WORKFLOWS_PATH } from './run-worker.ts';

/** Attempts wait for receivers most of their time, for up to 10 seconds each. */
const ATTEMPTS_AT_ONCE = 200;

const config = readConfig('worker:webhooks');
const logger = createLogger('worker:webhooks', config.LOG_LEVEL);
const operations = await startOperations('worker:webhooks', config);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const webhookClient = createWebhookClient({ allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS });
const sealedSecrets = createSealedSecrets(config.SECRET_SEALING_KEYS);
operations.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  operations,
  workers: [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowsPath: WORKFLOWS_PATH,
      activities: observeDeliveries(
        createDeliveryActivities({ orm, webhookClient, sealedSecrets, logger }),
        operations.metrics,
      ),
      ...versionedAs({
        deploymentName: `${config.TEMPORAL_DEPLOYMENT_NAME}-webhooks`,
        buildId: config.TEMPORAL_BUILD_ID,
        // A delivery goes on for up to a day: each new build takes it over, and replays its history.
        behavior: 'AUTO_UPGRADE',
      }),
      maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
      // An attempt under way ends within its limit.
      shutdownGraceTime: '15 seconds',
    },
  ],
  close: () => orm.close(),
});
