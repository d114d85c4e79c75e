/** `npm run worker:inference`: decode → model → result, on the queues it is told to serve. */
import { createInferenceActivities } from '../activities/inference-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { answersQueries } from '../db/answers-queries.ts';
import {
  ANNOUNCEMENT_LEASE_MS,
  announceInstalledEndpoints,
  renewInstalledEndpoints,
} from '../db/jobs/installed-endpoints.ts';
import { openDatabase } from '../db/orm.ts';
import { createSignedUrls } from '../domain/signed-urls.ts';
import { endpoints } from '../endpoints/list.ts';
import { createArtefactWriter } from '../inference/artefacts.ts';
import { createBackend } from '../inference/create-backend.ts';
import { createLogger } from '../logging.ts';
import { observeBackend } from '../observability/observed-backend.ts';
import { startOperations } from '../observability/operations.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { installTemporalRuntime, runWorkers } from './run-worker.ts';

/** Of live jobs, for each child process: enough for reading and storing files beside what is computed. */
const ACTIVITIES_PER_PROCESS = 16;
/** Fixtures cost nothing: one worker may wait for many slow ones. */
const TEST_ACTIVITIES = 200;

const config = readConfig('worker:inference');
const logger = createLogger('worker:inference', config.LOG_LEVEL);
const operations = await startOperations('worker:inference', config);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const store = createDiskStore(config.STORAGE_DIRECTORY);
const signedUrls = createSignedUrls(config.PUBLIC_BASE_URL, config.URL_SIGNING_KEY);
const backend = await createBackend({
  modelsDirectory: config.MODELS_DIRECTORY,
  store,
  writeArtefact: createArtefactWriter({ store, signedUrls }),
  children: config.INFERENCE_PROCESSES,
  threads: config.INFERENCE_THREADS,
  logger,
});

const installed = backend.installedEndpoints();
const isInstalled = new Set(installed.map(({ endpoint }) => endpoint));
const missing = endpoints.map(({ slug }) => slug).filter((slug) => !isInstalled.has(slug));
await announceInstalledEndpoints(orm.em.fork(), installed, missing);
logger.info({ installed, missing }, 'models installed');
const renewal = setInterval(() => {
  renewInstalledEndpoints(orm.em.fork(), installed).catch((err: unknown) => {
    logger.warn({ err }, 'installed models not announced; the next time tries again');
  });
}, ANNOUNCEMENT_LEASE_MS / 3);
operations.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  operations,
  workers: config.INFERENCE_QUEUES.map((taskQueue) => ({
    taskQueue,
    activities: createInferenceActivities({
      orm,
      backend: observeBackend(backend, operations.metrics, operations.tracing),
    }),
    maxConcurrentActivityTaskExecutions:
      taskQueue === TASK_QUEUES.inferenceTest ? TEST_ACTIVITIES : ACTIVITIES_PER_PROCESS * config.INFERENCE_PROCESSES,
    shutdownGraceTime: '30 seconds',
  })),
  async close() {
    clearInterval(renewal);
    await backend.close();
    await orm.close();
  },
});
