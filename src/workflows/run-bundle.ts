/** Runs the stages of a bundle, and shows their progress. */
import {
  ActivityCancellationType,
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  PlannedStage,
  StageActivities,
  StagePlan,
  StageProgress,
  StageRange,
  StageRecordActivities,
  StageReport,
} from '../contracts/run-bundle.ts';
import type { RunJobInput } from '../contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { failureOf, isOfLostWorker } from './failure-of.ts';
import { beginUnits, endUnits, nextRange, queuedProgress, skipBlocked } from './stage-schedule.ts';
import { scheduleUntilAccepted } from './until-accepted.ts';

// Few retries: the settlement shows the final state anyway.
const { showStages } = proxyLocalActivities<StageRecordActivities>({
  startToCloseTimeout: '5 seconds',
  retry: { maximumAttempts: 2 },
});

const { discardStages } = proxyLocalActivities<StageRecordActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

/**
 * Runs every stage of the plan and leaves one pending outcome. Rejects when that outcome cannot be composed, or the workflow
 * is cancelled. Calls `onChange` after every step.
 */
export async function runStages(
  input: RunJobInput,
  plan: StagePlan,
  onChange: (progress: readonly StageProgress[]) => void,
): Promise<void> {
  const progress = input.resumed?.progress ?? queuedProgress(plan);
  const display = createDisplay(input, plan, progress, onChange);
  const underWay = new Set<Promise<void>>();

  const begin = (range: StageRange) => {
    const ended = runRange(input, range).then((report) => {
      endUnits(plan, progress, range, report, epochSeconds());
      underWay.delete(ended);
      display.changed();
    });
    underWay.add(ended);
  };

  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.jobStatus, value: 'processing' }]);
  display.changed();
  for (;;) {
    skipBlocked(plan, progress);
    const next = nextRange(input, plan, progress);
    const isLong = workflowInfo().historyLength > plan.eventsPerRun || workflowInfo().continueAsNewSuggested;
    if (next && !isLong && underWay.size < plan.activitiesAtATime) {
      beginUnits(progress, next, epochSeconds());
      begin(next);
      display.changed();
    } else if (underWay.size > 0) {
      await Promise.race(underWay);
    } else if (next) {
      await display.shown();
      await continueAsNew<(input: RunJobInput) => Promise<unknown>>({ ...input, resumed: { plan, progress } });
    } else {
      break;
    }
  }
  await display.shown();
  await compose(input, plan, progress);
}

/** After the settlement, however the job ended. */
export async function forgetStages(jobId: string, progress: readonly StageProgress[]): Promise<void> {
  await CancellationScope.nonCancellable(() => discardStages({ jobId, progress }));
}

/** How each stage of an ended job did; without charges when the job was charged nothing. */
export function endDetailsOf(progress: readonly StageProgress[], chargedCredits: number): string[] {
  return progress.map((at) => {
    const { name, status, begunUnits, startedAt, completedAt } = at;
    if (status === 'queued' || (status === 'skipped' && begunUnits === 0)) return `- **${name}**: did not run`;
    const end = status === 'processing' ? 'stopped' : status;
    const took = startedAt === null || completedAt === null ? '' : ` in ${(completedAt - startedAt).toFixed(1)} s`;
    const charge = chargedCredits > 0 ? `, ${Math.round(at.chargedCredits)} credits` : '';
    return `- **${name}**: ${end}${took}, ${unitsOf(at)}${charge}`;
  });
}

/** A failure that no attempt could mend fails these units, not the job. */
async function runRange(input: RunJobInput, range: StageRange): Promise<StageReport> {
  try {
    // A picked-up job does not expire, and it must not hold its credits forever.
    const { inferenceAttempts, inferenceTimeoutMs } = input;
    const limits = { attempts: inferenceAttempts, withinMs: inferenceTimeoutMs, failure: 'model_unavailable' } as const;
    return await scheduleUntilAccepted(limits, (left) =>
      activitiesOn(input, range.stage, summaryOf(range), left).runStage({
        ...range,
        attempts: left.attempts,
        mayPassOn: true,
      }),
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    return {
      failedUnits: range.units,
      foundUnits: 0,
      chargedCredits: 0,
      isSkipped: false,
      error: failureOf(error),
      ...(isOfLostWorker(error) && { isWorkerLost: true }),
    };
  }
}

async function compose(input: RunJobInput, plan: StagePlan, progress: StageProgress[]): Promise<void> {
  const activities = activitiesOn(
    input,
    { taskQueue: input.inferenceTaskQueue },
    `${input.endpoint}: one result of ${plan.stages.length} stages`,
  );
  await activities.composeStages({ jobId: input.jobId, plan, progress });
}

function activitiesOn(
  { inferenceTimeoutMs, inferenceAttempts }: RunJobInput,
  { taskQueue }: Pick<PlannedStage, 'taskQueue'>,
  summary: string,
  { attempts, withinMs } = { attempts: inferenceAttempts, withinMs: inferenceTimeoutMs },
): StageActivities {
  return proxyActivities<StageActivities>({
    taskQueue,
    summary,
    scheduleToStartTimeout: withinMs,
    startToCloseTimeout: inferenceTimeoutMs,
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: attempts },
  });
}

function summaryOf({ stage, firstUnit, units, totalUnits }: StageRange): string {
  if (totalUnits === 1) return stage.name;
  return `${stage.name}: ${stage.unitName} ${firstUnit + 1} to ${firstUnit + units} of ${totalUnits}`;
}

/** Shows progress in Temporal Web and, if the job shows its stages, to the customer. Writes are sequential. */
function createDisplay(
  { jobId, endpoint }: RunJobInput,
  plan: StagePlan,
  progress: StageProgress[],
  onChange: (progress: readonly StageProgress[]) => void,
) {
  let isStale = false;
  let writing: Promise<void> | null = null;
  const write = async () => {
    while (isStale) {
      isStale = false;
      await showStages({ jobId, progress }).catch((error: unknown) => {
        if (isCancellation(error)) throw error;
      });
    }
    writing = null;
  };
  return {
    changed() {
      onChange(progress);
      setCurrentDetails(detailsOf(endpoint, progress));
      if (!plan.isShown) return;
      isStale = true;
      writing ??= write();
      // A cancellation surfaces where the stages are awaited.
      writing.catch(() => {});
    },
    async shown() {
      await writing;
    },
  };
}

// With the endpoint's name: a workflow that continues as new loses its summary.
function detailsOf(endpoint: string, progress: readonly StageProgress[]): string {
  const stages = progress.map((at) => {
    return `- **${at.name}**: ${at.status}, ${unitsOf(at)}, ${Math.round(at.chargedCredits)} credits`;
  });
  return [`Stages of **${endpoint}**:`, '', ...stages].join('\n');
}

function unitsOf({ endedUnits, units, failedUnits, error, isWorkerLost }: StageProgress): string {
  const failed = failedUnits > 0 ? `, ${failedUnits} failed (${error})` : '';
  return `${endedUnits} of ${units ?? '?'}${failed}${isWorkerLost ? ', worker lost' : ''}`;
}

/** Deterministic: the SDK returns the time of the workflow task. */
export function epochSeconds(): number {
  return Date.now() / 1_000;
}
