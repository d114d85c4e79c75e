/** The overhead of an inference worker over ONNX Runtime, and the gain of batches. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import sharp from 'sharp';
import { Type } from 'typebox';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { InferenceRequest } from '../../src/contracts/inference-backend.ts';
import { openDatabase } from '../../src/database.ts';
import { dashboardRead } from '../../src/endpoints/dashboard.read/contract.ts';
import { createOnnxBackend, type OnnxBackend } from '../../src/inference/backends/onnx-backend.ts';
import { admitJob } from '../../src/jobs/admission-store.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { newAdmission } from '../admission-statement.ts';
import { readCpuSeconds, subtractCpu } from '../cpu.ts';
import type { Effort } from '../effort.ts';
import { measureLatency, measureThroughput } from '../load.ts';
import { alternate, type Comparison, compare, type Sample, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { createOrganizations, type Organization } from '../organizations.ts';
import type { BareOrder } from '../processes/bare-inference.ts';
import type { BenchContext, Postgres } from '../servers.ts';
import { median } from '../statistics.ts';

const NETWORKS = fileURLToPath(new URL('../inference', import.meta.url));
const THREADS = 1;
/** Enough to always decode one picture while another is computed. */
const PIPELINE_IN_FLIGHT = 4;
const BATCH = 8;
/** The capacity of a worker with one child process: `ACTIVITIES_PER_PROCESS`. */
const FULL_LOAD = 16;
const CONVOLUTION = '7 GFLOP of convolutions on 640 × 640 pixels';
/** In the order of their child processes: two endpoints share the first. */
const SLUGS = ['bench.tensor', 'bench.convolution', 'bench.dense', 'bench.dense-in-batches'] as const;
const DENSE = '150 MB of fully connected layers, bound by reading them';

type Slug = (typeof SLUGS)[number];

interface Harness {
  onnx: OnnxBackend;
  orm: MikroORM;
  organization: Organization;
  /** Folder of the release of the convolutional network. */
  release: string;
  /** The stored input of every job. */
  picture: { current: Uint8Array };
  bare(order: Omit<BareOrder, 'release' | 'picture' | 'threads'>): Promise<{ durationsMs: number[]; pid: number }>;
}

export async function measureInference(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { signal, say } = context;
  say('Inference: loading networks …');
  const harness = await prepare(context, postgres);
  const [small, exact, photograph] = await Promise.all([pictureOf(64, 64), pictureOf(640, 640), pictureOf(1280, 960)]);
  const turns = { ...effort, signal };
  const comparisons: Comparison[] = [];

  say('One job at a time: the activity and ONNX Runtime alone …');
  harness.picture.current = small;
  comparisons.push(await compareActivity(harness, turns, 'bench.tensor'));
  harness.picture.current = exact;
  comparisons.push(await compareActivity(harness, turns, 'bench.convolution'));
  say('Pictures a second: the worker and a bare loop …');
  harness.picture.current = photograph;
  comparisons.push(await comparePipeline(harness, turns));
  say('The event loop of the worker, busy and idle …');
  comparisons.push(await compareEventLoop(harness, turns));
  say('Batches …');
  harness.picture.current = small;
  comparisons.push(...(await compareBatches(harness, turns)));
  return { comparisons, broken: [] };
}

type Turns = Effort & { signal: AbortSignal };

/** Compares runs of the same tensor, which the goal is for, and of a picture, to show the cost of decoding and scaling. */
async function compareActivity(
  harness: Harness,
  turns: Turns,
  slug: 'bench.tensor' | 'bench.convolution',
): Promise<Comparison> {
  const isOfTensor = slug === 'bench.tensor';
  const { onnx, orm, organization } = harness;
  const activities = createInferenceActivities({ orm, backend: onnx });
  const a: Side = {
    name: 'inference activity',
    what:
      `runInference, one at a time: pick-up, ${isOfTensor ? '' : 'a JPEG of 640 × 640 pixels, decoded and scaled, '}` +
      `${CONVOLUTION} in a child process with ${THREADS} thread, outcome into PostgreSQL`,
    processes: ['worker', 'child', 'PostgreSQL'],
    run: async () => {
      const durationsMs: number[] = [];
      const before = readCpuSeconds(pidsOf(harness));
      for (let done = 0; done < turns.latencyJobs; done += 1) {
        turns.signal.throwIfAborted();
        const { admission } = newAdmission({ endpoint: contractOf(slug), organization });
        if (isOfTensor) admission.job.inputs = [];
        await admitJob(orm.em.fork(), admission);
        const environment = new MockActivityEnvironment({ attempt: 1 });
        const startedAtMs = performance.now();
        const end = await environment.run(() => activities.runInference({ jobId: admission.job.id, attempts: 3 }));
        durationsMs.push(performance.now() - startedAtMs);
        if (end !== 'staged') throw new Error(`the activity returned ${JSON.stringify(end)}`);
      }
      const cpuSeconds = subtractCpu(readCpuSeconds(pidsOf(harness)), before);
      return { value: median(durationsMs), jobs: durationsMs.length, cpuSeconds };
    },
  };
  const b = bareSide(harness, {
    name: 'ONNX Runtime alone',
    what: `session.run of the same tensor with ${THREADS} thread in a loop, one process`,
    run: () => ({ loop: 'run', rounds: turns.latencyJobs, milliseconds: Number.MAX_SAFE_INTEGER }),
    value: median,
  });
  const samples = await alternate([a, b], turns);
  return compare(samples, {
    name: isOfTensor ? 'Inference activity, same tensor' : 'Inference activity, with its picture',
    unit: 'ms p50',
    a,
    b,
    goal: isOfTensor ? { atMost: 1.1 } : null,
  });
}

async function comparePipeline(harness: Harness, turns: Turns): Promise<Comparison> {
  const a: Side = {
    name: 'inference worker',
    what:
      `decode → resize → tensor → infer of a JPEG of 1280 × 960 pixels, ${CONVOLUTION}, ${PIPELINE_IN_FLIGHT} in flight, ` +
      `one child process with ${THREADS} thread`,
    processes: ['worker', 'child'],
    run: () =>
      measureThroughput({
        job: () => infer(harness, 'bench.convolution'),
        inFlight: PIPELINE_IN_FLIGHT,
        ...turns.jobs,
        pids: pidsOf(harness),
        signal: turns.signal,
      }),
  };
  const b = bareSide(harness, {
    name: 'bare loop',
    what: `the same functions and the same session, one picture after the other, in one process with ${THREADS} thread`,
    run: () => ({ loop: 'whole', rounds: Number.MAX_SAFE_INTEGER, milliseconds: turns.jobs.windowMs }),
    value: (durationsMs) => (1000 * durationsMs.length) / durationsMs.reduce((sum, each) => sum + each, 0),
  });
  const samples = await alternate([a, b], turns);
  return compare(samples, { name: 'Pictures/s, whole way', unit: 'jobs/s', a, b, goal: { atLeast: 0.9 } });
}

/** The event loop lag of this process, which owns the child processes like a worker. */
async function compareEventLoop(harness: Harness, turns: Turns): Promise<Comparison> {
  const { signal } = turns;
  const sideOf = (name: string, what: string, inFlight: number): Side => ({
    name,
    what: `${what}; the p99 of what monitorEventLoopDelay, every 10 ms, sees of the loop`,
    processes: [],
    run: async () => {
      const stopping = new AbortController();
      let jobs = 0;
      const lanes = Array.from({ length: inFlight }, async () => {
        while (!stopping.signal.aborted) {
          await infer(harness, 'bench.convolution');
          jobs += 1;
        }
      });
      await delay(turns.jobs.rampMs, undefined, { signal });
      const histogram = monitorEventLoopDelay({ resolution: 10 });
      histogram.enable();
      await delay(turns.jobs.windowMs, undefined, { signal });
      histogram.disable();
      stopping.abort();
      await Promise.all(lanes);
      return { value: histogram.percentile(99) / 1e6, jobs, cpuSeconds: null };
    },
  });
  const a = sideOf('full load', `${FULL_LOAD} JPEGs of 1280 × 960 pixels in flight, ${CONVOLUTION}`, FULL_LOAD);
  const b = sideOf('idle', 'no job', 0);
  const samples = await alternate([a, b], turns);
  return compare(samples, { name: 'Event loop of the worker', unit: 'ms p99', a, b, goal: { atMost: 2 } });
}

async function compareBatches(harness: Harness, turns: Turns): Promise<Comparison[]> {
  const { signal } = turns;
  const how = `a JPEG of 64 × 64 pixels, ${DENSE}, one child process with ${THREADS} thread`;
  const sidesOf = (inFlight: number, run: (slug: Slug) => Promise<Sample>): [Side, Side] => [
    {
      name: 'in batches',
      what: `${inFlight} in flight, ${how}; at most ${BATCH} in a batch`,
      processes: ['worker', 'child in batches'],
      run: () => run('bench.dense-in-batches'),
    },
    {
      name: 'one by one',
      what: `${inFlight} in flight, ${how}; no batches`,
      processes: ['worker', 'child one by one'],
      run: () => run('bench.dense'),
    },
  ];
  const load = { pids: pidsOf(harness), signal };
  const many = sidesOf(BATCH, (slug) =>
    measureThroughput({ ...load, job: () => infer(harness, slug), inFlight: BATCH, ...turns.jobs }),
  );
  const one = sidesOf(1, (slug) =>
    measureLatency({ ...load, job: () => infer(harness, slug), jobs: 2 * turns.latencyJobs }),
  );
  const rows: [string, 'jobs/s' | 'ms p50', [Side, Side], Comparison['goal']][] = [
    [`Batching, ${BATCH} in flight`, 'jobs/s', many, { atLeast: 1.5 }],
    ['Batching, 1 in flight', 'ms p50', one, { atMost: 1.02 }],
  ];
  const comparisons: Comparison[] = [];
  for (const [name, unit, [a, b], goal] of rows) {
    comparisons.push(compare(await alternate([a, b], turns), { name, unit, a, b, goal }));
  }
  return comparisons;
}

function bareSide(
  harness: Harness,
  {
    name,
    what,
    run,
    value,
  }: {
    name: string;
    what: string;
    run: () => Parameters<Harness['bare']>[0];
    value: (durationsMs: readonly number[]) => number;
  },
): Side {
  return {
    name,
    what,
    processes: ['bare loop'],
    run: async () => {
      const order = run();
      const { pid } = await harness.bare({ ...order, rounds: 1 });
      const before = readCpuSeconds({ 'bare loop': pid });
      const { durationsMs } = await harness.bare(order);
      const cpuSeconds = subtractCpu(readCpuSeconds({ 'bare loop': pid }), before);
      return { value: value(durationsMs), jobs: durationsMs.length, cpuSeconds };
    },
  };
}

async function infer({ onnx }: Harness, endpoint: Slug): Promise<void> {
  const input = { field: 'image', storageKey: '', mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null };
  const request: InferenceRequest = {
    jobId: 'job_1111111111111111111111',
    endpoint,
    livemode: true,
    parameters: {},
    inputs: [input],
    testScenario: null,
    reservedCredits: 1,
  };
  const { status } = await onnx.infer(request, { signal: AbortSignal.timeout(60_000) });
  if (status !== 'succeeded') throw new Error(`an inference ended ${status}`);
}

async function prepare(context: BenchContext, postgres: Postgres): Promise<Harness> {
  const { directory, cleanup } = context;
  const databaseUrl = await postgres.createDatabase('inference');
  const [organization] = await createOrganizations(databaseUrl, 1);
  if (!organization) throw new Error('no organisation was made');
  const orm = await openDatabase({ url: databaseUrl, poolSize: 2 });
  cleanup.add(() => orm.close());

  const modelsDirectory = join(directory, 'models');
  const release = installNetwork(modelsDirectory, 'convolution', 'convolution', 640, 1);
  installNetwork(modelsDirectory, 'dense', 'dense', 64, 1);
  installNetwork(modelsDirectory, 'dense', 'dense-in-batches', 64, BATCH);
  const picture = { current: new Uint8Array() };
  const problem = (fields: unknown, message?: string) => context.say(`${message}: ${JSON.stringify(fields)}`);
  const onnx = await createOnnxBackend({
    modelsDirectory,
    store: { get: async () => picture.current },
    writeArtefact: () => Promise.reject(new Error('nothing is made here')),
    children: 1,
    threads: THREADS,
    logger: { info: () => undefined, warn: problem, error: problem },
    endpoints: SLUGS.map(contractOf),
    endpointsDirectory: new URL('../inference/endpoints/', import.meta.url),
  });
  cleanup.add(() => onnx.close());

  const child = fork(new URL('../processes/bare-inference.ts', import.meta.url), { serialization: 'advanced' });
  cleanup.add(async () => {
    child.kill('SIGKILL');
  });
  return {
    onnx,
    orm,
    organization,
    release,
    picture,
    async bare(order) {
      child.send({ ...order, release, picture: picture.current, threads: THREADS } satisfies BareOrder);
      const [durationsMs] = (await once(child, 'message')) as [number[]];
      return { durationsMs, pid: child.pid ?? 0 };
    },
  };
}

/** In the order of their endpoints. */
function pidsOf({ onnx }: Harness): Record<string, number> {
  const [convolution = 0, oneByOne = 0, inBatches = 0] = onnx.pids;
  return { worker: process.pid, child: convolution, 'child one by one': oneByOne, 'child in batches': inBatches };
}

function contractOf(slug: Slug): EndpointContract {
  return { ...dashboardRead, slug, parameters: Type.Object({}), result: Type.Object({ scores: Type.Number() }) };
}

/** Returns the folder of the release. */
function installNetwork(modelsDirectory: string, network: string, model: string, side: number, batch: number): string {
  const release = join(modelsDirectory, model, '2026-01-01');
  const bytes = readFileSync(join(NETWORKS, `${network}.onnx`));
  const images = {
    shape: ['N', 3, side, side],
    layout: 'NCHW',
    dtype: 'float32',
    colour: 'RGB',
    range: [0, 1],
    mean: [0, 0, 0],
    std: [1, 1, 1],
    resize: 'letterbox',
    pad: 0.447059,
  };
  const manifest = {
    model,
    release: '2026-01-01',
    task: model,
    description: 'Of the size of a real network, and good for nothing.',
    license: 'Apache-2.0',
    files: {
      network: {
        path: `${network}.onnx`,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        inputs: { images },
        outputs: { scores: { shape: ['N', network === 'dense' ? 512 : 128] } },
        batch: { max: batch },
      },
    },
    warmUp: { network: { images: [1, 3, side, side] } },
  };
  mkdirSync(release, { recursive: true });
  copyFileSync(join(NETWORKS, `${network}.onnx`), join(release, `${network}.onnx`));
  writeFileSync(join(release, 'model.json'), JSON.stringify(manifest));
  return release;
}

/** A JPEG with as much detail as a photograph, so that it takes as long to decode. */
async function pictureOf(width: number, height: number): Promise<Uint8Array> {
  const source = new URL('../../training/examples/night-kilometres.jpg', import.meta.url);
  return new Uint8Array(await sharp(fileURLToPath(source)).resize(width, height, { fit: 'fill' }).jpeg().toBuffer());
}
