/**
 * Gauges of the backlog, read from PostgreSQL and Temporal when Prometheus scrapes, at most once in 10 seconds. Every
 * orchestration worker shows the same numbers: take their maximum, never their sum.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { type Backlog, readBacklog } from '../jobs/backlog-store.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { modeOf, PREFIX } from './metrics.ts';

interface Dependencies {
  registry: Registry;
  orm: MikroORM;
  temporal: Client;
  logger: Pick<Logger, 'warn'>;
  /** How long a reading is reused. */
  cacheMs?: number;
}

interface TaskQueueState {
  taskQueue: string;
  taskType: keyof typeof TASK_TYPES;
  tasks: number;
  oldestSeconds: number;
  pollers: number;
}

/** One gauge, and its labelled values for a reading. */
interface GaugeOf<Reading> {
  name: string;
  help: string;
  values: (reading: Reading) => readonly (readonly [labels: Record<string, string>, value: number])[];
}

const CACHE_MS = 10_000;
const TEMPORAL_TIMEOUT_MS = 2_000;
/** The others have activities only. */
const WORKFLOW_QUEUES: ReadonlySet<string> = new Set([TASK_QUEUES.orchestration, TASK_QUEUES.webhooks]);
/** temporal.api.enums.v1.TaskQueueType */
const TASK_TYPES = { workflow: 1, activity: 2 } as const;

const jobLabels = ({ endpoint, livemode, status }: Backlog['openJobs'][number]) => ({
  endpoint,
  mode: modeOf(livemode),
  status,
});
const taskLabels = ({ taskQueue, taskType }: TaskQueueState) => ({ task_queue: taskQueue, task_type: taskType });

const DATABASE_GAUGES: readonly GaugeOf<Backlog>[] = [
  {
    name: 'open_jobs',
    help: 'Jobs that have not ended.',
    values: ({ openJobs }) => openJobs.map((row) => [jobLabels(row), row.jobs]),
  },
  {
    name: 'oldest_open_job_seconds',
    help: 'Age of the oldest job that has not ended.',
    values: ({ openJobs }) => openJobs.map((row) => [jobLabels(row), row.oldestSeconds]),
  },
  {
    name: 'overdue_jobs',
    help: 'Open jobs past their due time.',
    values: ({ overdueJobs }) => [[{}, overdueJobs]],
  },
  {
    name: 'outbox_unstarted',
    help: 'Rows without a known workflow.',
    values: ({ unstarted }) => unstarted.map(({ kind, rows }) => [{ kind }, rows]),
  },
  {
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest row without a known workflow.',
    values: ({ unstarted }) => unstarted.map(({ kind, oldestSeconds }) => [{ kind }, oldestSeconds]),
  },
  {
    name: 'outbox_set_aside',
    help: 'Open jobs whose workflow could not be started, to be tried again later.',
    values: ({ setAsideJobs }) => [[{}, setAsideJobs]],
  },
  {
    name: 'ledger_holds',
    help: 'Jobs with held credits.',
    values: ({ holds }) => holds.map(({ livemode, jobs }) => [{ mode: modeOf(livemode) }, jobs]),
  },
  {
    name: 'ledger_held_credits',
    help: 'Held credits.',
    values: ({ holds }) => holds.map(({ livemode, credits }) => [{ mode: modeOf(livemode) }, credits]),
  },
  {
    name: 'webhook_deliveries_pending',
    help: 'Webhook deliveries that have not ended.',
    values: ({ pendingDeliveries }) => [[{}, pendingDeliveries.deliveries]],
  },
  {
    name: 'webhook_oldest_pending_seconds',
    help: 'Age of the oldest webhook delivery that has not ended.',
    values: ({ pendingDeliveries }) => [[{}, pendingDeliveries.oldestSeconds]],
  },
  {
    name: 'webhook_endpoints_disabled',
    help: 'Webhook endpoints that are disabled.',
    values: ({ disabledEndpoints }) => [[{}, disabledEndpoints]],
  },
];

const TASK_QUEUE_GAUGES: readonly GaugeOf<readonly TaskQueueState[]>[] = [
  {
    name: 'task_queue_backlog',
    help: 'Tasks that wait in a task queue of Temporal, approximately.',
    values: (queues) => queues.map((queue) => [taskLabels(queue), queue.tasks]),
  },
  {
    name: 'task_queue_oldest_seconds',
    help: 'Age of the oldest task that waits in a task queue of Temporal.',
    values: (queues) => queues.map((queue) => [taskLabels(queue), queue.oldestSeconds]),
  },
  {
    name: 'task_queue_pollers',
    help: 'Pollers of a task queue that Temporal has seen in the last minutes.',
    values: (queues) => queues.map((queue) => [taskLabels(queue), queue.pollers]),
  },
];

export function observeBacklog({ registry, orm, temporal, logger, cacheMs = CACHE_MS }: Dependencies): void {
  const readDatabase = cached(
    () => readBacklog(orm.em.fork()),
    cacheMs,
    (err) => logger.warn({ err }, 'backlog of the database not read'),
  );
  const readTemporal = cached(
    () => readTaskQueues(temporal),
    cacheMs,
    (err) => logger.warn({ err }, 'backlog of the task queues not read'),
  );
  for (const gauge of DATABASE_GAUGES) register(registry, gauge, readDatabase);
  for (const gauge of TASK_QUEUE_GAUGES) register(registry, gauge, readTemporal);
  const readable: GaugeOf<[Backlog | null, readonly TaskQueueState[] | null]> = {
    name: 'backlog_readable',
    help: '1 when the backlog could be read from the store, else 0.',
    values: ([database, queues]) => [
      [{ store: 'postgresql' }, database ? 1 : 0],
      [{ store: 'temporal' }, queues ? 1 : 0],
    ],
  };
  register(registry, readable, () => Promise.all([readDatabase(), readTemporal()]));
}

/** Omits a gauge that cannot be read: a zero would look like an empty queue. */
function register<Reading>(
  registry: Registry,
  { name, help, values }: GaugeOf<Reading>,
  read: () => Promise<Reading | null>,
): void {
  new Gauge({
    name: PREFIX + name,
    help,
    // Each gauge uses those that its values have.
    labelNames: LABELS,
    registers: [registry],
    async collect() {
      const reading = await read();
      this.reset();
      if (reading === null) return;
      for (const [labels, value] of values(reading)) this.set(labels, value);
    },
  });
}

const LABELS = ['endpoint', 'mode', 'status', 'kind', 'task_queue', 'task_type', 'store'];

/** All gauges of a scrape share one reading; null when it failed. */
function cached<Reading>(
  read: () => Promise<Reading>,
  cacheMs: number,
  onError: (error: unknown) => void,
): () => Promise<Reading | null> {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<Reading | null> = Promise.resolve(null);
  return () => {
    if (performance.now() - readAtMs < cacheMs) return reading;
    readAtMs = performance.now();
    reading = read().catch((error: unknown) => {
      onError(error);
      return null;
    });
    return reading;
  };
}

async function readTaskQueues(temporal: Client): Promise<TaskQueueState[]> {
  const queues = Object.values(TASK_QUEUES).flatMap((taskQueue) =>
    (['workflow', 'activity'] as const)
      .filter((taskType) => taskType === 'activity' || WORKFLOW_QUEUES.has(taskQueue))
      .map((taskType) => ({ taskQueue, taskType })),
  );
  return temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () =>
    Promise.all(queues.map((queue) => readTaskQueue(temporal, queue))),
  );
}

async function readTaskQueue(
  temporal: Client,
  { taskQueue, taskType }: Pick<TaskQueueState, 'taskQueue' | 'taskType'>,
): Promise<TaskQueueState> {
  const { stats, pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: temporal.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_TYPES[taskType],
    reportStats: true,
  });
  return {
    taskQueue,
    taskType,
    tasks: Number(stats?.approximateBacklogCount ?? 0),
    oldestSeconds: Number(stats?.approximateBacklogAge?.seconds ?? 0),
    pollers: pollers?.length ?? 0,
  };
}
