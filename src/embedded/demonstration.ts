/**
 * The main job from a customer's view: pictures go in through the public HTTP API, readings come back, credits are held and
 * charged, signed webhooks arrive. Every promise is checked; a broken one is a problem.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, VehicleInferenceClient, verifyWebhook } from '../client/index.ts';
import { demonstrateInspection } from './demonstrate-inspection.ts';
import { demonstratePictures } from './demonstrate-pictures.ts';
import { compareWithTruth, describeResult, type Truth } from './demonstration-report.ts';
import type { ServiceDescription } from './service-description.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

export interface DemonstrationOptions {
  service: ServiceDescription;
  /** Receives the deliveries of live events. */
  receiver: WebhookReceiver;
  webhookSecret: string;
  /** The pictures, with `truth.jsonl` beside them. */
  picturesDirectory: string;
  /** Where made pictures are kept. */
  madeDirectory: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

type DashboardJob = Job<'dashboard.read'>;

const WEBHOOK_TIMEOUT_MS = 120_000;
const JOB_TIMEOUT_MS = 120_000;
/** A worker is ready before a release that loads slowly is: on a slow machine the networks take longer. */
const MODEL_TIMEOUT_MS = 180_000;
const MODEL_POLL_MS = 500;

/** Returns the broken promises; none when all went well. */
export async function runDemonstration(options: DemonstrationOptions): Promise<string[]> {
  const { picturesDirectory, say } = options;
  const truths = readTruths(picturesDirectory);
  const problems: string[] = [];
  await waitForModel('dashboard.read', options);
  for (const truth of truths) {
    say(`\n── ${truth.file}${truth.dashboard ? '' : ' (a picture without a dashboard)'}, live mode`);
    problems.push(...(await readPicture(truth, options)).map((problem) => `${truth.file}: ${problem}`));
  }
  await waitForModel('inspections', options);
  await waitForModel('pricing.repair', options);
  say('\n── An inspection of twelve drawn views of one vehicle, live mode');
  problems.push(...(await demonstrateInspection(options)).map((problem) => `inspection: ${problem}`));
  await waitForModel('render.video', options);
  say('\n── A background, a plate, a spin and a film of drawn pictures, live mode');
  problems.push(...(await demonstratePictures(options)).map((problem) => `pictures: ${problem}`));
  const [first] = truths;
  if (!first) return [`${picturesDirectory} holds no pictures`];
  say(`\n── ${first.file}, test mode: the same pipeline on fixtures, paid from test credits`);
  problems.push(...(await runTestJob(first, options)).map((problem) => `test mode: ${problem}`));
  return problems;
}

/** @throws Error when no worker has announced a model in time */
async function waitForModel(slug: string, { service, signal }: DemonstrationOptions): Promise<void> {
  const client = new VehicleInferenceClient({ apiKey: service.keys.live, baseUrl: service.apiUrl });
  const deadlineMs = performance.now() + MODEL_TIMEOUT_MS;
  for (;;) {
    const offered = await client.listEndpoints();
    if (offered.some(({ endpoint, available }) => endpoint === slug && available)) return;
    if (performance.now() > deadlineMs) {
      throw new Error(
        `no model serves ${slug} after ${MODEL_TIMEOUT_MS / 1_000} s; the inference worker's log says why`,
      );
    }
    await sleep(MODEL_POLL_MS, undefined, { signal });
  }
}

async function readPicture(truth: Truth, options: DemonstrationOptions): Promise<string[]> {
  const { service, say } = options;
  const job = await runJob(truth.file, service.keys.live, options);
  if (job.status !== 'succeeded') return [`the job ended as ${job.status}: ${JSON.stringify(job.error)}`];
  const { differences, lines } = compareWithTruth(job.result, truth);
  for (const line of [...describeResult(job), ...lines]) say(`   ${line}`);
  const problems = [...differences, ...checkCredits(job, say)];
  if (!job.livemode) problems.push('the job of a live key says livemode: false');
  problems.push(...(await checkWebhook(job, options)));
  problems.push(...(await checkTemporal(job, options)));
  return problems;
}

async function runTestJob(truth: Truth, options: DemonstrationOptions): Promise<string[]> {
  const job = await runJob(truth.file, options.service.keys.test, options);
  if (job.status !== 'succeeded') return [`the job ended as ${job.status}: ${JSON.stringify(job.error)}`];
  for (const line of describeResult(job)) options.say(`   ${line}`);
  const problems = checkCredits(job, options.say);
  if (job.livemode) problems.push('the job of a test key says livemode: true');
  return problems;
}

/** Sends the picture and follows its job to the end. */
async function runJob(
  file: string,
  key: string,
  { service, picturesDirectory, say, signal }: DemonstrationOptions,
): Promise<DashboardJob> {
  const client = new VehicleInferenceClient({ apiKey: key, baseUrl: service.apiUrl });
  const image = new Uint8Array(readFileSync(join(picturesDirectory, file)));
  const startedAtMs = performance.now();
  let job = await client.submit('dashboard.read', { image }, { signal });
  say(`   ${job.id}: ${job.credits.reserved} credits reserved`);
  const statuses: string[] = [];
  const timeout = AbortSignal.timeout(JOB_TIMEOUT_MS);
  for await (job of client.followJob<'dashboard.read'>(job.id, { signal: AbortSignal.any([signal, timeout]) })) {
    statuses.push(job.status);
  }
  if (statuses[0] !== 'queued') statuses.unshift('queued');
  // A quick job may pass through `processing` between two polls; the job itself records its pick-up.
  if (job.started_at !== null && !statuses.includes('processing')) statuses.splice(1, 0, 'processing');
  say(`   ${statuses.join(' → ')} in ${Math.round(performance.now() - startedAtMs)} ms`);
  return job;
}

function checkCredits({ credits }: DashboardJob, say: (line: string) => void): string[] {
  say(`   credits: ${credits.reserved} reserved, ${credits.charged} charged`);
  const plausible = credits.charged > 0 && credits.charged <= credits.reserved;
  return plausible ? [] : [`${credits.charged} credits charged of ${credits.reserved} reserved`];
}

async function checkWebhook(
  job: DashboardJob,
  { receiver, webhookSecret, say }: DemonstrationOptions,
): Promise<string[]> {
  try {
    const delivery = await receiver.waitFor(({ rawBody }) => rawBody.includes(job.id), WEBHOOK_TIMEOUT_MS);
    const header = delivery.headers['service-signature'];
    const event = await verifyWebhook({
      body: delivery.rawBody,
      signature: Array.isArray(header) ? header[0] : header,
      secret: webhookSecret,
    });
    say(`   webhook: ${event.type} (${event.id}) delivered, Service-Signature verified`);
    const fits = event.type === 'job.succeeded' && event.data.object.id === job.id;
    return fits ? [] : [`the webhook says ${event.type} of ${event.data.object.id}`];
  } catch (error) {
    return [`webhook: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function checkTemporal(job: DashboardJob, { service, say, signal }: DemonstrationOptions): Promise<string[]> {
  const { temporalWebUrl, temporalNamespace } = service;
  if (!temporalWebUrl) {
    say(`   Temporal: workflow ${job.id} on ${service.temporalAddress}`);
    return [];
  }
  const path = `namespaces/${temporalNamespace}/workflows/${job.id}`;
  say(`   Temporal Web: ${temporalWebUrl}/${path}`);
  const answer = await fetch(`${temporalWebUrl}/api/v1/${path}`, { signal });
  return answer.ok ? [] : [`Temporal Web returns ${answer.status} for its workflow`];
}

function readTruths(picturesDirectory: string): Truth[] {
  return readFileSync(join(picturesDirectory, 'truth.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Truth);
}
