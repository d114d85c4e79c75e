/** An inspection of twelve views of one drawn vehicle, in live mode, from a customer's view. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Job, VehicleInferenceClient } from '../client/index.ts';
import type { ServiceDescription } from './service-description.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';

interface InspectionOptions {
  service: Pick<ServiceDescription, 'apiUrl' | 'keys'>;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Drawn by the project. */
const VIEWS = {
  'render.360': ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8'],
  inspections: ['', '-2', '-3', '-4'],
};
/** Twelve pictures on a slow machine. */
const JOB_TIMEOUT_MS = 180_000;

/** Returns the broken promises. */
export async function demonstrateInspection({ service, say, signal }: InspectionOptions): Promise<string[]> {
  const client = new VehicleInferenceClient({ apiKey: service.keys.live, baseUrl: service.apiUrl });
  const images = Object.entries(VIEWS).flatMap(([slug, names]) => names.map((name) => readView(slug, name)));
  let job: Job<'inspections'> = await client.submit('inspections', { images }, { signal });
  say(`   ${job.id}: ${job.credits.reserved} credits reserved`);
  const either = AbortSignal.any([signal, AbortSignal.timeout(JOB_TIMEOUT_MS)]);
  for await (const state of client.followJob<'inspections'>(job.id, { signal: either })) job = state;
  const { result, status, credits } = job;
  if (!result) return [`the job ended as ${status}: ${JSON.stringify(job.error)}`];
  for (const line of describe(job)) say(`   ${line}`);
  return [
    ...(await estimateRepairs(job, client, say)),
    ...(status === 'succeeded' ? [] : [`the job ended as ${status}`]),
    ...(result.missing_views.length === 0 ? [] : [`it missed ${result.missing_views.join(', ')}`]),
    ...(result.report ? [] : ['it made no report']),
    ...(credits.charged > 0 && credits.charged <= credits.reserved ? [] : [`${credits.charged} credits were charged`]),
  ];
}

/** The estimate of the inspection itself needs a book of real prices; an invented one is used only where a request names it. */
async function estimateRepairs(
  { id, result }: Job<'inspections'>,
  client: VehicleInferenceClient,
  say: (line: string) => void,
): Promise<string[]> {
  if (!result?.parts.some(({ damages }) => damages.length > 0)) return [];
  const body = { job_id: id, price_book: 'demonstration-repairs-invented' };
  const estimate = await client.submit('pricing.repair', body, { waitSeconds: 30 });
  if (!estimate.result) return [`its repair was not estimated: ${JSON.stringify(estimate.error)}`];
  const { totals, currency } = estimate.result;
  say(`   by invented prices: ${totals.gross} ${currency} in minor units (pricing.repair, ${estimate.id})`);
  return [];
}

function readView(slug: string, name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints', slug, 'fixtures', `example${name}.jpg`)));
}

function describe({ status, result, credits }: Job<'inspections'>): string[] {
  if (!result) return [];
  const { overall, views, parts, repair_estimate: estimate, repair_estimate_omitted: omitted, report } = result;
  const usable = views.filter(({ is_usable }) => is_usable);
  const damages = parts.flatMap((part) => part.damages);
  return [
    `${status}; credits: ${credits.reserved} reserved, ${credits.charged} charged`,
    `views:     ${usable.length} of ${views.length} usable: ${[...new Set(usable.map(({ view }) => view?.value))].join(', ')}`,
    `vehicle:   condition ${overall?.condition_grade.value ?? 'unknown'}, ${parts.length} parts examined, ${damages.length} damages`,
    `estimate:  ${estimate ? `${estimate.totals.gross} ${estimate.currency} in minor units` : `none (${omitted ?? 'unknown'})`}`,
    `report:    ${report?.url ?? 'none'}`,
  ];
}
