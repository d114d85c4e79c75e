/** Runs an ended job again on a release in the shadow. The job neither waits for it nor knows of it. */
import {
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import type { ShadowActivities, ShadowEnd, ShadowJobInput, ShadowRecordActivities } from '../contracts/shadow-job.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { failureOf } from './failure-of.ts';
import { scheduleUntilAccepted } from './until-accepted.ts';

// Bounded, unlike a settlement: a comparison that PostgreSQL does not take in time is lost, and nothing else.
const { recordShadowFailure } = proxyLocalActivities<ShadowRecordActivities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '10 minutes',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

export async function shadowJob(input: ShadowJobInput): Promise<ShadowEnd> {
  const { jobId, modelVersion } = input;
  setCurrentDetails(`On task queue **${TASK_QUEUES.inferenceShadow}**: waiting for a worker, or running.`);
  const end = await run(input).catch((error: unknown) => {
    if (isCancellation(error)) throw error;
    return recordShadowFailure({ jobId, modelVersion, failure: failureOf(error) });
  });
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.shadowOutcome, value: outcomeOf(end) },
    { key: SEARCH_ATTRIBUTES.shadowDiffers, value: end.differing },
  ]);
  setCurrentDetails(describe(input, end));
  return end;
}

function run({ jobId, modelVersion, endpoint, waitMs, timeoutMs, attempts: most }: ShadowJobInput): Promise<ShadowEnd> {
  const limits = { attempts: most, withinMs: waitMs, failure: 'model_unavailable' } as const;
  return scheduleUntilAccepted(limits, ({ attempts, withinMs }) => {
    const { runShadow } = proxyActivities<ShadowActivities>({
      taskQueue: TASK_QUEUES.inferenceShadow,
      summary: `${endpoint} on ${modelVersion}`,
      scheduleToStartTimeout: withinMs,
      startToCloseTimeout: timeoutMs,
      heartbeatTimeout: '10 seconds',
      retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: attempts },
    });
    return runShadow({ jobId, modelVersion, attempts });
  });
}

function outcomeOf({ outcome, differing }: ShadowEnd): string {
  if (outcome !== 'compared') return outcome;
  return differing.length === 0 ? 'agreed' : 'differed';
}

function describe({ endpoint, modelVersion }: ShadowJobInput, end: ShadowEnd): string {
  const { outcome, reason, agreed, differing } = end;
  if (outcome !== 'compared') return `**${outcome}**${reason === null ? '' : ` (${reason})`}: nothing was compared.`;
  const fields = agreed.length + differing.length;
  if (differing.length === 0) return `${modelVersion} **agrees** in all ${fields} fields.`;
  return [
    `${modelVersion} **differs** in ${differing.length} of ${fields} fields: ${differing.map((field) => `\`${field}\``).join(', ')}.`,
    '',
    `\`npm run -s releases -- show ${endpoint}\` shows the values.`,
  ].join('\n');
}
