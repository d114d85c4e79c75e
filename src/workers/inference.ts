/** `npm run worker:inference`: decode → model → result, on the configured queues. */
import { createDispatchActivities } from '../activities/dispatch-activities.ts';
import { createInferenceActivities } from '../activities/inference-activities.ts';
import { createShadowActivities } from '../activities/shadow-activities.ts';
import { createArtefactWriter } from '../artefacts/artefact-writer.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { openDatabase } from '../database.ts';
import { endpoints } from '../endpoints/list.ts';
import { createBackend } from '../inference/backends/create-backend.ts';
import { createValuationBackend } from '../inference/backends/valuation-backend.ts';
import { createDispatcher } from '../inference/remote/dispatcher.ts';
import { withRemoteEndpoints } from '../inference/remote/with-remote-endpoints.ts';
import { createHttpClient } from '../inference/runtime/kserve/http-exchange.ts';
import { createAskServer } from '../inference/runtime/kserve/kserve-servers.ts';
import { findVideoProblem, INSTALL_VIDEO_COMMAND } from '../inference/video/find-video-problem.ts';
import { createDispatchTokens } from '../jobs/dispatch-tokens.ts';
import { startObservability } from '../observability/observability.ts';
import { observeBackend } from '../observability/observed-backend.ts';
import { observeSettlements } from '../observability/observed-settlements.ts';
import { readConfig } from '../platform/config/config.ts';
import { answersQueries } from '../platform/database/health.ts';
import { createLogger } from '../platform/logging/logger.ts';
import { createSignedUrls } from '../platform/signed-urls.ts';
import { openStore, WORKER_PATIENCE_MS } from '../platform/storage/open-store.ts';
import { readChoices } from '../releases/release-choices-store.ts';
import { AnnouncedModels } from './announced-models.ts';
import { installTemporalRuntime, runWorkers } from './run-worker.ts';
import { runtimeOptionsOf } from './runtime-options.ts';

/** Live jobs per child process: enough to read and store files while others compute. */
const ACTIVITIES_PER_PROCESS = 16;
/** Fixtures need no model, so one worker may wait for many slow ones. */
const TEST_ACTIVITIES = 200;
/** The machine is for live jobs. */
const SHADOW_ACTIVITIES = 1;
/** By queue; live ones are not listed. */
const ACTIVITIES: Readonly<Record<string, number>> = {
  [TASK_QUEUES.inferenceTest]: TEST_ACTIVITIES,
  [TASK_QUEUES.inferenceShadow]: SHADOW_ACTIVITIES,
};

const config = readConfig('worker:inference');
const observability = await startObservability('worker:inference', config);
const logger = createLogger('worker:inference', config.LOG_LEVEL, observability.tracing);
installTemporalRuntime(logger, config.TEMPORAL_METRICS_ADDRESS);
const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
const store = await openStore(config, {
  patienceMs: WORKER_PATIENCE_MS,
  onAway: (err) => logger.warn({ err }, 'the bucket is away'),
});
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
// Videos are decoded on this queue alone.
const servesVideos = config.INFERENCE_QUEUES.includes(TASK_QUEUES.inferenceHeavy);
const videoProblem = servesVideos ? await findVideoProblem() : null;
if (videoProblem !== null) {
  logger.warn(
    { reason: videoProblem, install: INSTALL_VIDEO_COMMAND },
    'videos cannot be decoded or encoded: video.onboard, render.video, and inspections and spins of videos are left to other workers',
  );
}
const writeArtefact = createArtefactWriter({ store, signedUrls });
const valuation = await createValuationBackend({ orm, writeArtefact, logger });
const here = await createBackend({
  // The repair estimates of inspections; requests of their own run on the queue `valuation`.
  inferByBooks: (request, context) => valuation.infer(request, context),
  modelsDirectory: config.MODELS_DIRECTORY,
  readChoices: () => readChoices(orm.em.fork()),
  store,
  bundleFiles: store,
  inputFiles: store,
  decodesVideos: servesVideos && videoProblem === null,
  writeArtefact,
  children: config.INFERENCE_PROCESSES,
  threads: config.INFERENCE_THREADS,
  ...runtimeOptionsOf(config),
  observer: {
    waited: (modelVersion, waitMs) => observability.metrics.modelWaited({ modelVersion, waitMs }),
    ran: (run) => observability.metrics.modelRan(run),
  },
  askServer: createAskServer({ servers: config.KSERVE_SERVERS, http, logger }),
  logger,
});
const backend = withRemoteEndpoints(here, dispatcher);

const models = new AnnouncedModels({ orm, backend, endpoints: endpoints.map(({ slug }) => slug), logger });
await models.announce();
const stopFollowing = models.follow();
observability.readyWhen('database', () => answersQueries(orm));

await runWorkers({
  address: config.TEMPORAL_ADDRESS,
  namespace: config.TEMPORAL_NAMESPACE,
  logger,
  observability,
  workers: config.INFERENCE_QUEUES.map((taskQueue) => ({
    taskQueue,
    activities: {
      ...createShadowActivities({ orm, backend, store, onRecorded: (run) => observability.metrics.shadowEnded(run) }),
      ...createInferenceActivities({
        orm,
        backend: observeBackend(backend, observability.metrics, observability.tracing),
        onStagePickUp: (pickedUp) => observability.metrics.stagePickedUp(pickedUp),
        onSettled: observeSettlements(observability.metrics, logger),
      }),
      ...createDispatchActivities({ orm, dispatcher }),
    },
    maxConcurrentActivityTaskExecutions: ACTIVITIES[taskQueue] ?? ACTIVITIES_PER_PROCESS * config.INFERENCE_PROCESSES,
    graceMs: 30_000,
    // Without a model, the worker must not take jobs that only others can run. Models may come and go.
    isWanted: () => taskQueue === TASK_QUEUES.inferenceTest || backend.installedEndpoints().length > 0,
  })),
  async close() {
    stopFollowing();
    await backend.close();
    await http.close();
    await orm.close();
  },
});
