/**
 * Metrics, probes, traces and log lines of every kind of process, while jobs and webhooks go through them: what an
 * operator needs is there, and no secret is.
 */
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VehicleInferenceClient } from '../../src/client/index.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { createDevelopmentWebhookEndpoint, type DevelopmentSeed, seedDevelopment } from '../../src/embedded/seed.ts';
import { newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { copyModels, OF_DASHBOARD_READ } from '../support/models.ts';
import { PROJECT_DIRECTORY, type TestProcess, useProcesses } from '../support/processes.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { installQuietRuntime } from '../support/temporal-runtime.ts';
import { until, untilAvailable } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { workflowBundlePath } from '../support/workers.ts';
import { type Collector, startCollector } from './collector.ts';
import { SDK_METRICS } from './sdk-metrics.ts';

const PROCESSES = ['api', 'orchestration', 'inference', 'webhooks'] as const;
type Name = (typeof PROCESSES)[number];

const processes = useProcesses();
const running = {} as Record<Name, TestProcess>;
const metricsPorts = {} as Record<Name, number>;
const temporalPorts = {} as Record<Name, number>;

let database: TestDatabase;
let namespace: TestNamespace;
let collector: Collector;
let receiver: WebhookReceiver;
let seed: DevelopmentSeed;
let baseUrl: string;
/** Secrets that must appear in no line and no span. */
const planted: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  namespace = await createTestNamespace();
  installQuietRuntime();
  collector = await startCollector();
  receiver = await startWebhookReceiver();
  seed = await seedDevelopment(database.url);
  const apiPort = await findFreePort();
  baseUrl = `http://127.0.0.1:${apiPort}`;

  planted.liveKey = seed.keys.live;
  planted.testKey = seed.keys.test;
  planted.strangersKey = newApiKeySecret('live').secret;
  planted.idempotencyKey = 'idempotency-key-that-nobody-may-read';
  planted.receiverToken = 'token-in-the-address-of-the-receiver';
  const endpoint = await createDevelopmentWebhookEndpoint(database.url, {
    organizationId: seed.organizationId,
    url: `${receiver.url}?token=${planted.receiverToken}`,
    livemode: false,
    sealedSecrets: createSealedSecrets(['development']),
  });
  planted.webhookSecret = endpoint.secret;

  const environment = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: namespace.address,
    TEMPORAL_NAMESPACE: namespace.namespace,
    SERVICE_ENVIRONMENT: 'development',
    LOG_LEVEL: 'trace',
    STORAGE_DIRECTORY: mkdtempSync(join(tmpdir(), 'storage-')),
    MODELS_DIRECTORY: copyModels(mkdtempSync(join(tmpdir(), 'models-')), OF_DASHBOARD_READ),
    API_HOST: '127.0.0.1',
    API_PORT: String(apiPort),
    PUBLIC_BASE_URL: baseUrl,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    // OpenTelemetry's own variable: milliseconds between two exports.
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  for (const name of PROCESSES) {
    metricsPorts[name] = await findFreePort();
    temporalPorts[name] = await findFreePort();
    running[name] = await processes.start({
      entry: name === 'api' ? 'src/api/main.ts' : `src/workers/${name}.ts`,
      environment: {
        ...environment,
        METRICS_ADDRESS: `127.0.0.1:${metricsPorts[name]}`,
        TEMPORAL_METRICS_ADDRESS: `127.0.0.1:${temporalPorts[name]}`,
      },
    });
  }
  for (const name of PROCESSES) await until(() => isReady(name), 240_000);
}, 600_000);
afterAll(async () => {
  await collector.close();
  await receiver.close();
  await Promise.all(PROCESSES.map((name) => running[name]?.stop()));
  await database.drop();
});

async function isReady(name: Name): Promise<boolean> {
  return fetch(`http://127.0.0.1:${metricsPorts[name]}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

const metricsOf = async (name: Name, port = metricsPorts[name]) =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

interface Submitted {
  id: string;
  requestId: string;
  /** 202 where a busy machine took longer than a request waits. */
  status: number;
}

/** With secrets wherever a caller can put them. */
async function readDashboard(key: string, wait: boolean): Promise<Submitted> {
  const picture = await readFile(`${PROJECT_DIRECTORY}training/examples/day-miles-seven-segment.jpg`);
  const body = new FormData();
  body.set('image', new Blob([picture]), `${key}.jpg`);
  const response = await fetch(`${baseUrl}/v1/dashboard/read?wait=${wait}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'idempotency-key': `${planted.idempotencyKey}-${key.slice(4, 8)}`,
      'x-forwarded-for': planted.strangersKey ?? '',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: `key=${planted.strangersKey}`,
      'user-agent': key,
    },
    body,
  });
  expect([200, 202]).toContain(response.status);
  const { id } = (await response.json()) as { id: string };
  return { id, requestId: response.headers.get('request-id') ?? '', status: response.status };
}

let live: Submitted;
let test: Submitted;

beforeAll(async () => {
  await untilAvailable(new VehicleInferenceClient({ apiKey: seed.keys.live, baseUrl }), 'dashboard.read');
  live = await readDashboard(seed.keys.live, true);
  test = await readDashboard(seed.keys.test, true);
  await running.inference.waitForLine((line) => line.includes('"job settled"') && line.includes(live.id), 120_000);
  await receiver.waitFor(({ rawBody }) => rawBody.includes(test.id), 60_000);
  // Refusals, with secrets in the wrong places.
  const { strangersKey = '', idempotencyKey = '', webhookSecret = '' } = planted;
  const authorization = `Bearer ${seed.keys.test}`;
  for (const [path, init] of [
    [`/v1/jobs/${strangersKey}`, { headers: { authorization } }],
    [`/v1/jobs/${webhookSecret}`, { headers: { authorization } }],
    ['/v1/jobs/none', { headers: { authorization, 'request-id': strangersKey } }],
    [`/v1/jobs?${strangersKey}=${webhookSecret}`, { headers: { authorization } }],
    [`/v1/endpoints?token=${idempotencyKey}`, { headers: { authorization: `Bearer ${strangersKey}` } }],
    ['/v1/endpoints', { headers: { authorization: `Basic ${strangersKey}` } }],
    [
      '/v1/dashboard/read',
      {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify({ input_ref: strangersKey, unit_hint: webhookSecret, [idempotencyKey]: strangersKey }),
      },
    ],
  ] as [string, RequestInit][]) {
    const { status } = await fetch(baseUrl + path, init);
    expect(status).toBeGreaterThanOrEqual(400);
  }
}, 300_000);

describe('metrics', () => {
  it('metrics of the API count requests by route, admissions and refusals', async () => {
    const metrics = await metricsOf('api');
    const submitted = metrics.matchAll(
      /^vehicle_inference_http_request_duration_seconds_count\{method="POST",route="\/v1\/dashboard\/read",status="20[02]"\} (\d+)$/gm,
    );
    expect([...submitted].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(2);
    expect(metrics).toMatch(/^vehicle_inference_jobs_admitted_total\{endpoint="dashboard\.read",mode="live"\} 1$/m);
    expect(metrics).toMatch(/^vehicle_inference_http_refusals_total\{code="invalid_api_key"\} 1$/m);
    expect(metrics).toContain('route="/v1/jobs/:id"');
  });

  it('metrics of the workers count activities, inferences, settlements and deliveries', async () => {
    const inference = await metricsOf('inference');
    expect(inference).toMatch(
      /^vehicle_inference_inference_duration_seconds_count\{endpoint="dashboard\.read",mode="live",model="[\w-]+@[\d-]+",outcome="succeeded"\} 1$/m,
    );
    expect(inference).toMatch(
      /^vehicle_inference_jobs_settled_total\{endpoint="dashboard\.read",mode="live",status="succeeded"\} 1$/m,
    );
    expect(inference).toMatch(
      /^vehicle_inference_job_queue_seconds_count\{endpoint="dashboard\.read",mode="test"\} 1$/m,
    );
    await until(async () =>
      /^vehicle_inference_webhook_attempts_total\{outcome="delivered"\} 1$/m.test(await metricsOf('webhooks')),
    );
  });

  it('metrics of the backlog come from the orchestration worker', async () => {
    const metrics = await metricsOf('orchestration');
    for (const line of [
      'vehicle_inference_backlog_readable{store="postgresql"} 1',
      'vehicle_inference_backlog_readable{store="temporal"} 1',
      'vehicle_inference_overdue_jobs 0',
      'vehicle_inference_task_queue_backlog{task_queue="inference-gpu",task_type="activity"} 0',
    ]) {
      expect(metrics.split('\n')).toContain(line);
    }
    const pollers = metrics.match(/^vehicle_inference_task_queue_pollers.*$/gm) ?? [];
    expect(pollers).toHaveLength(9);
    for (const line of pollers) expect(line).toMatch(/ [1-9]\d*$/);
  });

  it('metrics of Temporal’s SDK come from every worker, with the names and labels that alerts and dashboard use', async () => {
    const served = await Promise.all(PROCESSES.slice(1).map((name) => metricsOf(name, temporalPorts[name])));
    for (const metrics of served) expect(metrics).toMatch(/^temporal_worker_task_slots_available\{/m);
    for (const [name, labels] of Object.entries(SDK_METRICS)) {
      const line = served
        .join('\n')
        .split('\n')
        .find((candidate) => candidate.startsWith(`${name}{`));
      for (const label of labels) expect([name, line]).toEqual([name, expect.stringContaining(`${label}="`)]);
    }
  });

  it('metrics have no id among their labels', async () => {
    for (const name of PROCESSES) {
      expect(await metricsOf(name)).not.toMatch(/(?:job|req|org|evt|whd|key)_[1-9A-HJ-NP-Za-km-z]{22}/);
    }
  });
});

describe('traces', () => {
  it('traces follow a request through the workflow to the inference, which settles', async () => {
    const request = await collector.waitFor(
      ({ service, attributes }) => service === 'vehicle-inference-api' && attributes['job.id'] === live.id,
    );
    expect(request).toMatchObject({
      service: 'vehicle-inference-api',
      name: 'POST /v1/dashboard/read',
      attributes: { 'request.id': live.requestId, 'http.response.status_code': live.status },
    });
    const { traceId } = request;
    for (const [service, name] of [
      ['vehicle-inference-api', 'StartWorkflow:runJob'],
      ['vehicle-inference-worker-orchestration', 'RunWorkflow:runJob'],
      ['vehicle-inference-worker-inference', 'RunActivity:runInference'],
      ['vehicle-inference-worker-inference', 'infer dashboard.read'],
    ]) {
      await collector.waitFor((span) => span.traceId === traceId && span.service === service && span.name === name);
    }
    const [inference, activity] = ['infer dashboard.read', 'RunActivity:runInference'].map((name) =>
      collector.spans.find((span) => span.traceId === traceId && span.name === name),
    );
    expect(inference?.parentSpanId).toBe(activity?.spanId);
  });

  it('traces begin with the service: a caller can neither choose nor extend them', () => {
    expect(collector.spans.map(({ traceId }) => traceId)).not.toContain('0af7651916cd43dd8448eb211c80319c');
  });

  it('traces leave a history that replays without them', async () => {
    const client = openTemporalClient(namespace);
    const history = await client.workflow.getHandle(live.id).fetchHistory();
    await client.connection.close();
    expect(JSON.stringify(history.events?.[0])).toContain('_tracer-data');
    const workflowBundle = { codePath: await workflowBundlePath() };
    await expect(Worker.runReplayHistory({ workflowBundle }, history, live.id)).resolves.toBeUndefined();
  });

  it('traces are separate for each request', async () => {
    const [one, other] = await Promise.all(
      [live, test].map(({ id }) => collector.waitFor(({ attributes }) => attributes['job.id'] === id)),
    );
    expect(one?.traceId).not.toBe(other?.traceId);
  });
});

describe('log lines', () => {
  const linesOf = (name: Name) =>
    running[name].lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('log lines of a job carry its id and its request’s in the API and the workers alike', async () => {
    const ids = { requestId: live.requestId, jobId: live.id };
    await until(() => linesOf('inference').some((line) => line.msg === 'job settled' && line.jobId === live.id));
    expect(linesOf('api')).toContainEqual(expect.objectContaining({ ...ids, msg: 'request', status: live.status }));
    expect(linesOf('inference')).toContainEqual(
      expect.objectContaining({ ...ids, workflowId: live.id, activity: 'runInference', traceId: expect.any(String) }),
    );
    expect(linesOf('inference')).toContainEqual(
      expect.objectContaining({ ...ids, workflowId: live.id, activity: 'runInference', msg: 'job settled' }),
    );
  });

  it('log lines of a refusal carry its code', () => {
    expect(linesOf('api')).toContainEqual(expect.objectContaining({ status: 401, code: 'invalid_api_key' }));
  });
});

it('no secret appears in any line or span of any process, whatever field it was sent in', async () => {
  await collector.waitFor(({ name }) => name === 'RunWorkflow:deliverWebhook');
  expect(collector.bodies.length).toBeGreaterThan(3);
  const spans = collector.bodies.join('\n');
  for (const [kind, secret] of Object.entries(planted)) {
    expect([kind, spans.includes(secret)]).toEqual([kind, false]);
    for (const name of PROCESSES) {
      expect(running[name].lines.length).toBeGreaterThan(2);
      const leaks = running[name].lines.filter((line) => line.includes(secret));
      expect({ kind, name, leaks }).toEqual({ kind, name, leaks: [] });
    }
  }
});

it('a worker without its database is alive and not ready', async () => {
  await database.drop();
  await until(async () => !(await isReady('webhooks')));
  const alive = await fetch(`http://127.0.0.1:${metricsPorts.webhooks}/health/live`);
  expect(alive.status).toBe(200);
});
