/** A healthy webhook endpoint, alone and beside one that hangs on more deliveries than the worker has slots. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { openDatabase } from '../../src/database.ts';
import { createDevelopmentWebhookEndpoint } from '../../src/embedded/seed.ts';
import { startWebhookReceiver } from '../../src/embedded/webhook-receiver.ts';
import { type EntityManager, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { startDeliverWebhook } from '../../src/webhooks/delivery-starter.ts';
import { WebhookEndpoint } from '../../src/webhooks/entities.ts';
import { readCpuSeconds, subtractCpu } from '../cpu.ts';
import type { Effort } from '../effort.ts';
import { alternate, compare, type Sample, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { startProcess } from '../processes.ts';
import { type BenchContext, type Postgres, startBenchTemporal } from '../servers.ts';
import { quantile } from '../statistics.ts';

/** One and a half times the slots of the worker. */
const STUCK_DELIVERIES = 300;
const IN_FLIGHT = 2;
/** Minimum for a p99 that is not simply the slowest. */
const DELIVERIES_PER_JOB = 10;
const SEALING_KEY = 'sealing key of the benchmark';
const ARRIVAL_TIMEOUT_MS = 60_000;
const PROCESSES = ['webhook worker', 'Temporal', 'PostgreSQL', 'load generator'] as const;

export async function measureWebhookIsolation(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { cleanup, signal, say } = context;
  const [temporalServer, databaseUrl] = await Promise.all([
    startBenchTemporal(context),
    postgres.createDatabase('webhooks'),
  ]);
  const orm = await openDatabase({ url: databaseUrl, poolSize: 4 });
  cleanup.add(() => orm.close());
  const worker = await startProcess(context, {
    name: 'webhook worker',
    entry: 'src/workers/webhooks.ts',
    readyMessage: 'worker ready',
    environment: {
      SERVICE_ENVIRONMENT: 'development',
      LOG_LEVEL: 'info',
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalServer.address,
      TEMPORAL_NAMESPACE: 'default',
      SECRET_SEALING_KEYS: SEALING_KEY,
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    },
  });
  const connection = await Connection.connect({ address: temporalServer.address });
  cleanup.add(() => connection.close());
  const temporal = new Client({ connection });
  const pids = {
    'webhook worker': worker,
    ...temporalServer.pids,
    PostgreSQL: postgres.pid,
    'load generator': process.pid,
  };

  const [healthy, stuck] = [await startWebhookReceiver(), await startWebhookReceiver()];
  cleanup.add(() => healthy.close());
  cleanup.add(() => stuck.close());
  // It accepts every delivery and never responds.
  stuck.answerWith(() => {});
  const arrivals = new Map<string, () => void>();
  healthy.answerWith((response, { headers }) => {
    arrivals.get(String(headers['webhook-id']))?.();
    response.writeHead(200).end();
  });
  const owner = { databaseUrl, em: () => orm.em.fork() };
  const healthyEndpoint = await createEndpoint(owner, healthy.url);

  /** The p99 of the time from the start of a delivery to its arrival. */
  const measureArrivals = async (count: number): Promise<Sample> => {
    const deliveries = await createDeliveries(owner.em(), healthyEndpoint, count);
    const durationsMs: number[] = [];
    const cpuBefore = readCpuSeconds(pids);
    const lane = async () => {
      for (let delivery = deliveries.shift(); delivery !== undefined; delivery = deliveries.shift()) {
        signal.throwIfAborted();
        const { promise: arrived, resolve, reject } = Promise.withResolvers<void>();
        const timer = setTimeout(() => reject(new Error('a healthy delivery did not arrive')), ARRIVAL_TIMEOUT_MS);
        arrivals.set(delivery.eventId, resolve);
        const startedAtMs = performance.now();
        await Promise.all([startDeliverWebhook(temporal, delivery), arrived]).finally(() => clearTimeout(timer));
        durationsMs.push(performance.now() - startedAtMs);
        arrivals.delete(delivery.eventId);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    return {
      value: quantile(durationsMs, 0.99),
      jobs: count,
      cpuSeconds: subtractCpu(readCpuSeconds(pids), cpuBefore),
    };
  };

  /** The same while a new endpoint hangs on its deliveries, which are removed afterwards. */
  const measureBesideStuck = async (count: number): Promise<Sample> => {
    const endpoint = await createEndpoint(owner, stuck.url);
    const deliveries = await createDeliveries(owner.em(), endpoint, STUCK_DELIVERIES);
    for (const delivery of deliveries) await startDeliverWebhook(temporal, delivery);
    // Known to be stuck: its first deliveries have failed after 10 seconds.
    await until(() => isFailing(owner.em(), endpoint), signal);
    try {
      return await measureArrivals(count);
    } finally {
      for (const { id } of deliveries) await temporal.workflow.getHandle(id).terminate();
      await query(owner.em(), 'delete from webhook_endpoints where id = $1', [endpoint]);
    }
  };

  const count = effort.latencyJobs * DELIVERIES_PER_JOB;
  say('Webhooks: warming up …');
  await measureArrivals(count);
  say(`Webhooks: p99 of an endpoint beside one that hangs on ${STUCK_DELIVERIES} deliveries, and without …`);
  const what =
    `from the start of the delivery's workflow to its arrival, ${IN_FLIGHT} in flight; src/workers/webhooks.ts on queue ` +
    `${TASK_QUEUES.webhooks}, receivers on loopback`;
  const a: Side = {
    name: 'beside a stuck neighbour',
    what: `${what}; another organisation's endpoint hangs on ${STUCK_DELIVERIES} deliveries`,
    processes: PROCESSES,
    run: () => measureBesideStuck(count),
  };
  const b: Side = { name: 'alone', what, processes: PROCESSES, run: () => measureArrivals(count) };
  const samples = await alternate([a, b], { ...effort, signal });
  const comparison = compare(samples, { name: 'Webhook delivery', unit: 'ms p99', a, b, goal: { atMost: 1.2 } });
  return { comparisons: [comparison], broken: [] };
}

async function isFailing(em: EntityManager, webhookEndpointId: string): Promise<boolean> {
  const rows = await query(em, 'select from webhook_endpoints where id = $1 and consecutive_failures > 0', [
    webhookEndpointId,
  ]);
  return rows.length > 0;
}

async function until(condition: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await condition())) await delay(100, undefined, { signal });
}

/** An endpoint of an organisation of its own. */
async function createEndpoint(
  { databaseUrl, em }: { databaseUrl: string; em: () => EntityManager },
  url: string,
): Promise<string> {
  const organizationId = newId('organization');
  await query(em(), 'insert into organizations (id, name) values ($1, $1)', [organizationId]);
  const sealedSecrets = createSealedSecrets([SEALING_KEY]);
  return (await createDevelopmentWebhookEndpoint(databaseUrl, { organizationId, url, livemode: true, sealedSecrets }))
    .id;
}

/** Events with a delivery each, that no sweeper starts. */
async function createDeliveries(em: EntityManager, webhookEndpointId: string, count: number) {
  const { organizationId } = await em.findOneOrFail(WebhookEndpoint, { id: webhookEndpointId });
  const deliveries = Array.from({ length: count }, () => ({
    id: newId('webhookDelivery'),
    eventId: newId('event'),
    organizationId,
    livemode: true,
  }));
  const [ids, eventIds] = [deliveries.map(({ id }) => id), deliveries.map(({ eventId }) => eventId)];
  await query(
    em,
    `insert into events (id, organization_id, livemode, is_staging, type, payload, created_at)
     select event.id, organization_id, livemode, is_staging, 'job.succeeded', json_build_object('id', event.id), now()
     from unnest($1::text[]) as event (id), webhook_endpoints where webhook_endpoints.id = $2`,
    [eventIds, webhookEndpointId],
  );
  await query(
    em,
    `insert into webhook_deliveries (id, event_id, webhook_endpoint_id, workflow_started_at)
     select id, event_id, $3, now() from unnest($1::text[], $2::text[]) as delivery (id, event_id)`,
    [ids, eventIds, webhookEndpointId],
  );
  return deliveries;
}
