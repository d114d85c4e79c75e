/** Outcomes of a stage's units: their report, and later stages' view of them. */
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { Found, StageOutcome, UnitOutcome } from '../contracts/job.ts';
import type { PlannedStage, StagePlan, StageProgress, StageReport } from '../contracts/run-bundle.ts';
import { failureOfStage } from './job-stages.ts';

/** The report of an activity to its workflow. */
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

/** The outcomes that a later stage sees. Units of a lost activity count as failed. */
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
 * The outcomes of all stages that ran. A lost unit counts as failed, and so does every unit of a failed stage: an outcome
 * that its activity kept but could not report is useless without the later stages.
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

/** The progress with the counts and charges of the kept outcomes: an activity may have kept more than it reported. */
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
