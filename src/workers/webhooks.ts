/** `npm run worker:webhooks`: signed deliveries. Only this process connects to addresses that customers choose. */
import { createDeliveryActivities } from '../activities/delivery-activities.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../database.ts';
import { startObservability } from '../observability/observability.ts';
import { observeDeliveries } from '../observability/observed-deliveries.ts';
import { readConfig } from '../platform/config/config.ts';
import { answersQueries } from '../platform/database/health.ts';
import { createLogger } from '../platform/logging/logger.ts';
import { createSealedSecrets } from '../platform/sealed-secrets.ts';
import { createWebhookClient } from '../webhooks/webhook-client.ts';
import { installTemporalRuntime, runWorkers, versionedAs, WORKFLOWS_PATH } from './run-worker.ts';

/** Attempts mostly wait for receivers, up to 10 seconds each. */
const ATTEMPTS_AT_ONCE = 200;

const config = readConfig('worker:webhooks');
const observability = await startObservability('worker:webhooks', config);
const logger = createLogger('worker:webhooks', config.LOG_LEVEL, observability.tracing);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const webhookClient = createWebhookClient({ allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS });
const sealedSecrets = createSealedSecrets(config.SECRET_SEALING_KEYS);
observability.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  observability,
  workers: [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowsPath: WORKFLOWS_PATH,
      activities: observeDeliveries(
        createDeliveryActivities({ orm, webhookClient, sealedSecrets, logger }),
        observability.metrics,
      ),
      ...versionedAs({
        deploymentName: `${config.TEMPORAL_DEPLOYMENT_NAME}-webhooks`,
        buildId: config.TEMPORAL_BUILD_ID,
        // A delivery lasts up to a day, so each new build takes it over and replays its history.
        behavior: 'AUTO_UPGRADE',
      }),
      maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
      // Longer than an attempt's own limit.
      graceMs: 15_000,
    },
  ],
  close: () => orm.close(),
});
