/** `npm run worker:inference`: decode → model → result, on the queues it is told to serve. */
import { createDispatchActivities } from '../activities/dispatch-activities.ts';
import { createInferenceActivities } from '../activities/inference-activities.ts';
import { readConfig } from '../config/config.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { answersQueries } from '../db/answers-queries.ts';
import { openDatabase } from '../db/orm.ts';
import { createDispatchTokens } from '../domain/dispatch-tokens.ts';
import { createSignedUrls } from '../domain/signed-urls.ts';
import { endpoints } from '../endpoints/list.ts';
import { createArtefactWriter } from '../inference/artefacts.ts';
import { createBackend } from '../inference/create-backend.ts';
import { createDispatcher } from '../inference/remote/dispatcher.ts';
import { createHttpClient } from '../inference/remote/http-exchange.ts';
import { createAskServer } from '../inference/remote/kserve-servers.ts';
import { withRemoteEndpoints } from '../inference/remote/with-remote-endpoints.ts';
import { createLogger } from '../logging.ts';
import { observeBackend } from '../observability/observed-backend.ts';
import { observeSettlements } from '../observability/observed-settlements.ts';
import { startOperations } from '../observability/operations.ts';
import { createDiskStore } from '../storage/disk-store.ts';
import { AnnouncedModels } from './announced-models.ts';
import { executorsOf } from './executors-of.ts';
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
const http = createHttpClient();
const dispatcher = createDispatcher({
  remoteEndpoints: config.REMOTE_ENDPOINTS,
  endpoints,
  http,
  publicBaseUrl: config.PUBLIC_BASE_URL,
  signedUrls,
  tokens: createDispatchTokens(config.URL_SIGNING_KEY),
  logger,
});
const here = await createBackend({
  modelsDirectory: config.MODELS_DIRECTORY,
  store,
  liveFiles: store,
  writeArtefact: createArtefactWriter({ store, signedUrls }),
  children: config.INFERENCE_PROCESSES,
  threads: config.INFERENCE_THREADS,
  ...executorsOf(config),
  observer: {
    waited: (modelVersion, waitMs) => operations.metrics.modelWaited({ modelVersion, waitMs }),
    ran: (run) => operations.metrics.modelRan(run),
  },
  askServer: createAskServer({ servers: config.KSERVE_SERVERS, http, logger }),
  logger,
});
const backend = withRemoteEndpoints(here, dispatcher);

const models = new AnnouncedModels({ orm, backend, endpoints: endpoints.map(({ slug }) => slug), logger });
await models.announce();
const stopFollowing = models.follow();
operations.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  operations,
  workers: config.INFERENCE_QUEUES.map((taskQueue) => ({
    taskQueue,
    activities: {
      ...createInferenceActivities({
        orm,
        backend: observeBackend(backend, operations.metrics, operations.tracing),
        onStagePickUp: (pickedUp) => operations.metrics.stagePickedUp(pickedUp),
        onSettled: observeSettlements(operations.metrics, logger),
      }),
      ...createDispatchActivities({ orm, dispatcher }),
    },
    maxConcurrentActivityTaskExecutions:
      taskQueue === TASK_QUEUES.inferenceTest ? TEST_ACTIVITIES : ACTIVITIES_PER_PROCESS * config.INFERENCE_PROCESSES,
    shutdownGraceTime: '30 seconds',
    // A job that only others can run must not land here; what is missing may come, and what is there may go.
    isWanted: () => taskQueue === TASK_QUEUES.inferenceTest || backend.installedEndpoints().length > 0,
  })),
  async close() {
    stopFollowing();
    await backend.close();
    await http.close();
    await orm.close();
  },
});
