/** `npm run worker:orchestration`: workflows, settlement, valuations, and the sweeper. */
import { createInferenceActivities } from '../activities/inference-activities.ts';
import { createSettlementActivities } from '../activities/settlement-activities.ts';
import { createShadowRecordActivities } from '../activities/shadow-activities.ts';
import { createStageRecordActivities } from '../activities/stage-record-activities.ts';
import { createArtefactWriter } from '../artefacts/artefact-writer.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../database.ts';
import { endpoints } from '../endpoints/list.ts';
import { createValuationBackend } from '../inference/backends/valuation-backend.ts';
import { observeBacklog } from '../observability/backlog.ts';
import { startObservability } from '../observability/observability.ts';
import { observeBackend } from '../observability/observed-backend.ts';
import { observeSettlements } from '../observability/observed-settlements.ts';
import { readConfig } from '../platform/config/config.ts';
import { answersQueries } from '../platform/database/health.ts';
import { BATCH_STATEMENT_TIMEOUT_MS } from '../platform/database/timeouts.ts';
import { createLogger } from '../platform/logging/logger.ts';
import { createSignedUrls } from '../platform/signed-urls.ts';
import { openStore, WORKER_PATIENCE_MS } from '../platform/storage/open-store.ts';
import { openTemporalClient } from '../platform/temporal/connect.ts';
import { AnnouncedModels } from './announced-models.ts';
import { installTemporalRuntime, runWorkers, versionedAs, WORKFLOWS_PATH } from './run-worker.ts';
import { startSweeper } from './sweeper.ts';

/** Each takes some milliseconds and a few statements. */
const VALUATIONS = 20;

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
const store = await openStore(config, {
  patienceMs: WORKER_PATIENCE_MS,
  onAway: (err) => logger.warn({ err }, 'the bucket is away'),
});
const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
const temporal = openTemporalClient({ address, namespace, plugins: observability.tracing.temporalPlugins });
const sweeper = startSweeper({
  orm,
  temporal,
  store,
  logger,
  retentionDays: {
    inputs: config.INPUT_RETENTION_DAYS,
    results: config.RESULT_RETENTION_DAYS || null,
    events: config.EVENT_RETENTION_DAYS,
  },
});
observeBacklog({ registry: observability.metrics.registry, orm, temporal, logger });
observability.readyWhen('database', () => answersQueries(orm));

const valuation = await createValuationBackend({
  orm,
  writeArtefact: createArtefactWriter({
    store,
    signedUrls: createSignedUrls(config.PUBLIC_BASE_URL, config.URL_SIGNING_KEY),
  }),
  logger,
});
const priced = endpoints.flatMap((endpoint) => ('usesPriceBooks' in endpoint ? [endpoint.slug] : []));
const books = new AnnouncedModels({ orm, backend: valuation, endpoints: priced, logger });
await books.announce();
const stopFollowing = books.follow();

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
        ...createShadowRecordActivities({ orm, onRecorded: (run) => observability.metrics.shadowEnded(run) }),
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
    {
      taskQueue: TASK_QUEUES.valuation,
      activities: createInferenceActivities({
        orm,
        backend: observeBackend(valuation, observability.metrics, observability.tracing),
        onSettled: observeSettlements(observability.metrics, logger),
      }),
      maxConcurrentActivityTaskExecutions: VALUATIONS,
      graceMs: 10_000,
    },
  ],
  async close() {
    stopFollowing();
    await sweeper.stop();
    await temporal.connection.close();
    await orm.close();
  },
});
