/** Which units of a bundle may run next. No I/O; the functions mutate the given progress. */
import type { PlannedStage, StagePlan, StageProgress, StageRange, StageReport } from '../contracts/run-bundle.ts';
import type { Settlement } from '../contracts/run-job.ts';

export function queuedProgress({ stages }: StagePlan): StageProgress[] {
  return stages.map(({ name, units }) => ({
    name,
    status: 'queued',
    units: typeof units === 'number' ? units : null,
    begunUnits: 0,
    endedUnits: 0,
    failedUnits: 0,
    foundUnits: 0,
    chargedCredits: 0,
    startedAt: null,
    completedAt: null,
    error: null,
  }));
}

/**
 * The next units to run, from the ready stage with the smallest share of begun units: independent stages advance side by
 * side. Null when nothing may begin now, or a required stage has failed.
 */
export function nextRange(
  { jobId, inferenceAttempts }: { jobId: string; inferenceAttempts: number },
  plan: StagePlan,
  progress: readonly StageProgress[],
): StageRange | null {
  if (isStopped(plan, progress)) return null;
  let least: { stage: PlannedStage; at: StageProgress; totalUnits: number } | null = null;
  for (const stage of plan.stages) {
    const at = progressOf(progress, stage.name);
    const { units: totalUnits } = at;
    if (totalUnits === null || hasEnded(at) || at.begunUnits >= totalUnits || !isItsTurn(stage, progress)) continue;
    if (!least || at.begunUnits / totalUnits < least.at.begunUnits / least.totalUnits)
      least = { stage, at, totalUnits };
  }
  if (!least) return null;
  const { stage, at, totalUnits } = least;
  return {
    jobId,
    stage,
    firstUnit: at.begunUnits,
    units: Math.min(stage.unitsPerActivity, totalUnits - at.begunUnits),
    totalUnits,
    attempts: inferenceAttempts,
  };
}

/** Skips ready stages without units and, after a required stage has failed, every stage that has not begun. */
export function skipBlocked(plan: StagePlan, progress: readonly StageProgress[]): void {
  const stopped = isStopped(plan, progress);
  for (const stage of plan.stages) {
    const at = progressOf(progress, stage.name);
    if (at.status === 'queued' && stopped) at.status = 'skipped';
    if (at.status !== 'queued' || !isItsTurn(stage, progress)) continue;
    if (typeof stage.units !== 'number') at.units = progressOf(progress, stage.units.foundBy).foundUnits;
    if (at.units === 0) at.status = 'skipped';
  }
}

/** Records that an activity has taken a range. */
export function beginUnits(
  progress: readonly StageProgress[],
  { stage, units }: StageRange,
  epochSeconds: number,
): void {
  const at = progressOf(progress, stage.name);
  at.status = 'processing';
  at.startedAt ??= epochSeconds;
  at.begunUnits += units;
}

/** Records how a range ended and, after the last range, how the stage ended. */
export function endUnits(
  plan: StagePlan,
  progress: readonly StageProgress[],
  { stage, units }: StageRange,
  report: StageReport,
  epochSeconds: number,
): void {
  const at = progressOf(progress, stage.name);
  at.endedUnits += units;
  at.failedUnits += report.failedUnits;
  at.foundUnits += report.foundUnits;
  at.chargedCredits += report.chargedCredits;
  at.error ??= report.error;
  if (report.isWorkerLost) at.isWorkerLost = true;
  if (at.endedUnits < (at.units ?? 0)) return;
  at.completedAt = epochSeconds;
  if (report.isSkipped) at.status = 'skipped';
  else at.status = at.failedUnits === at.units ? 'failed' : 'succeeded';
  skipBlocked(plan, progress);
}

/** The progress of an ended job: no stage is queued or running, and none is charged when the job was charged nothing. */
export function endedProgress(
  progress: readonly StageProgress[],
  { chargedCredits, error }: Settlement,
  epochSeconds: number,
): StageProgress[] {
  return progress.map((at) => ({
    ...at,
    ...(at.status === 'queued' && { status: 'skipped' as const }),
    ...(at.status === 'processing' && {
      status: 'failed' as const,
      completedAt: epochSeconds,
      error: error ?? ('model_inference_failed' as const),
    }),
    chargedCredits: chargedCredits > 0 ? at.chargedCredits : 0,
  }));
}

function progressOf(progress: readonly StageProgress[], name: string): StageProgress {
  const at = progress.find((stage) => stage.name === name);
  if (!at) throw new TypeError(`the plan has no stage ${name}`);
  return at;
}

function isStopped({ stages }: StagePlan, progress: readonly StageProgress[]): boolean {
  return stages.some(({ name, isOptional }) => !isOptional && progressOf(progress, name).status === 'failed');
}

function isItsTurn({ after }: PlannedStage, progress: readonly StageProgress[]): boolean {
  return after.every((name) => hasEnded(progressOf(progress, name)));
}

function hasEnded({ status }: StageProgress): boolean {
  return status !== 'queued' && status !== 'processing';
}
