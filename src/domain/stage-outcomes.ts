/** What the units of a stage found: what is reported of it, and what later stages see of it. */
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { Found, StageOutcome, UnitOutcome } from '../contracts/job.ts';
import type { PlannedStage, StagePlan, StageProgress, StageReport } from '../contracts/run-stages.ts';
import { failureOfStage } from './job-stages.ts';

/** What an activity tells its workflow of the units that it ran, and no more. */
export function reportOf(
  { units }: StageOutcome,
  { stage, totalUnits }: { stage: Pick<PlannedStage, 'priceCredits'>; totalUnits: number },
): StageReport {
  const errors = units.flatMap((unit) => (unit.status === 'failed' ? [unit.error] : []));
  return {
    failedUnits: errors.length,
    foundUnits: units.reduce((sum, unit) => sum + (unit.status === 'succeeded' ? (unit.foundUnits ?? 0) : 0), 0),
    chargedCredits: units.reduce((sum, unit) => sum + chargeOf(unit, stage.priceCredits / totalUnits), 0),
    isSkipped: units.length === 0,
    error: errors[0]?.code ?? null,
  };
}

function chargeOf(unit: UnitOutcome, share: number): number {
  return unit.status === 'succeeded' ? (unit.chargedCredits ?? share) : 0;
}

/** As a later stage sees it: with a failure in the place of units whose activity was lost. */
export function foundUnits(kept: readonly KeptUnits[]): Found {
  const found: Record<string, UnitOutcome[]> = {};
  for (const { stage, firstUnit, outcome } of kept) {
    const units = found[stage] ?? [];
    found[stage] = units;
    while (units.length < firstUnit) units.push(lostUnit('model_inference_failed'));
    units.splice(firstUnit, outcome.units.length, ...outcome.units);
  }
  return found;
}

/**
 * All that the stages found, those that were skipped left out. A unit that was lost is a failure, and so is every unit of a
 * stage that failed: what its activity kept although it could not report is worth nothing without the stages after it.
 */
export function foundByStages(progress: readonly StageProgress[], kept: readonly KeptUnits[]): Found {
  const ended = progress.filter(({ status }) => status === 'succeeded' || status === 'failed');
  return Object.fromEntries(
    ended.map(({ name, status, units, error }) => {
      const lost = lostUnit(error ?? 'model_inference_failed');
      const outcomes = Array<UnitOutcome>(units ?? 0).fill(lost);
      for (const { firstUnit, outcome } of kept.filter(({ stage }) => stage === name)) {
        const found = outcome.units.map((unit) => (status === 'failed' && unit.status === 'succeeded' ? lost : unit));
        outcomes.splice(firstUnit, found.length, ...found);
      }
      return [name, outcomes];
    }),
  );
}

/** The progress with the counts and charges of what was found: an activity may have kept more than it could report. */
export function settledProgress(
  { stages }: StagePlan,
  progress: readonly StageProgress[],
  found: Found,
): StageProgress[] {
  return progress.map((at) => {
    const stage = stages.find(({ name }) => name === at.name);
    const units = found[at.name];
    if (!stage || !units || at.status !== 'succeeded') return at;
    const { failedUnits, chargedCredits, error } = reportOf({ units: [...units] }, { stage, totalUnits: units.length });
    return { ...at, failedUnits, chargedCredits, error };
  });
}

interface KeptUnits {
  stage: string;
  firstUnit: number;
  outcome: StageOutcome;
}

function lostUnit(code: ErrorCode): UnitOutcome {
  return { status: 'failed', error: failureOfStage(code) };
}
