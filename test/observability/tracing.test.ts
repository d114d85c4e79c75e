/** Traces change no workflow, and a process without a collector loads no tracing code. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { bundleWorkflowCode, DefaultLogger, Worker, type WorkflowBundle } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { traceWith } from '../../src/observability/open-telemetry.ts';
import type { Tracing } from '../../src/observability/tracing.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { installQuietRuntime } from '../support/temporal-runtime.ts';

const HISTORIES = `${PROJECT_DIRECTORY}test/replay/histories/`;
const histories = readdirSync(HISTORIES).flatMap((folder) =>
  readdirSync(HISTORIES + folder).map((file) => `${folder}/${file}`),
);

const exporter = new InMemorySpanExporter();
let tracing: Tracing;
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  const logger = new DefaultLogger('ERROR', () => {});
  installQuietRuntime();
  tracing = traceWith('test', new SimpleSpanProcessor(exporter));
  workflowBundle = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    plugins: tracing.temporalPlugins,
    logger,
  });
}, 240_000);
afterAll(() => tracing.stop());

describe('a workflow that began without traces', () => {
  it.each(histories)('a workflow that began without traces continues with them: %s', async (file) => {
    const history: unknown = JSON.parse(readFileSync(HISTORIES + file, 'utf8'));
    const replay = Worker.runReplayHistory({ workflowBundle, plugins: tracing.temporalPlugins }, history);
    await expect(replay).resolves.toBeUndefined();
  });
});

describe('a span', () => {
  it('a span of failed work has the name of the error, and nothing of its message', async () => {
    const work = tracing.inSpan('work', {}, () => Promise.reject(new TypeError('what was sent')));
    await expect(work).rejects.toThrow(TypeError);
    const [span] = exporter.getFinishedSpans().slice(-1);
    expect(span).toMatchObject({ name: 'work', status: { message: 'TypeError' }, events: [] });
  });

  it('a span can be renamed and extended during its work', async () => {
    await tracing.inSpan('GET', { first: 1 }, async (span) => {
      span.rename('GET /v1/jobs/:id');
      span.set({ second: true });
    });
    const [span] = exporter.getFinishedSpans().slice(-1);
    expect(span).toMatchObject({ name: 'GET /v1/jobs/:id', attributes: { first: 1, second: true } });
  });
});

it('a process without a collector loads no OpenTelemetry beyond what Prometheus’s client needs', () => {
  const program = `
    const { startObservability } = await import('./src/observability/observability.ts');
    await import('./src/workers/run-worker.ts');
    const settings = { METRICS_ADDRESS: '', OTEL_EXPORTER_OTLP_ENDPOINT: process.argv[1] || null };
    const { temporalPlugins } = (await startObservability('test', settings)).tracing;
    const { createRequire } = await import('node:module');
    const loaded = Object.keys(createRequire(import.meta.url).cache).join(' ');
    console.log(JSON.stringify([temporalPlugins.length, /@opentelemetry.sdk-trace|interceptors-opentelemetry/.test(loaded)]));
  `;
  const run = (endpoint: string) =>
    JSON.parse(
      spawnSync(process.execPath, ['--input-type=module', '--eval', program, endpoint], {
        cwd: PROJECT_DIRECTORY,
        encoding: 'utf8',
      }).stdout,
    ) as unknown;
  expect(run('')).toEqual([0, false]);
  expect(run('http://127.0.0.1:1')).toEqual([1, true]);
}, 240_000);
