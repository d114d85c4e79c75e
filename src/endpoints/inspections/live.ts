/** Live mode: each stage combines single-step endpoints with rules on their results. */
import type { Found, JobInput, UnitOutcome } from '../../contracts/job.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { type BundleDefinition, resultOf, type StageUnit } from '../../inference/bundles/bundle-definition.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { damageDetect } from '../damage.detect/contract.ts';
import type { Result as Damages } from '../damage.detect/result.ts';
import { damageSeverity } from '../damage.severity/contract.ts';
import type { Result as Severities } from '../damage.severity/result.ts';
import type { Result as Parts } from '../parts.recognize/result.ts';
import { type FoundDamage, foundDamages } from '../shared/found-damages.ts';
import { chargeOfVideo, findKeyFrames, inputOfFrame, WATCHING } from '../shared/key-frames.ts';
import { vehiclePose } from '../vehicle.pose/contract.ts';
import type { Result as Pose } from '../vehicle.pose/result.ts';
import { assessOverall } from './assess-overall.ts';
import { compareWithBaseline } from './compare-baseline.ts';
import { mergeViews } from './merge-views.ts';
import { makeReport } from './report/make-report.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import type { Stage } from './stage-plan.ts';
import {
  detectedAt,
  findingsOf,
  missingViewsOf,
  omissionOf,
  type SeenOfView,
  type StageValues,
  takenViews,
  valueAt,
} from './stage-values.ts';

type Live = NonNullable<BundleDefinition<Result>['live']>;

/** Issues that make a view unusable. */
const BLINDING = ['blurred', 'too_dark', 'overexposed', 'no_vehicle'];
/** Minimum confidence for an issue to count. */
const CERTAIN = 0.5;
/** Maximum damages per `damage.severity` request. */
const MOST_GRADED = 50;
/** Maximum damages of an estimate. */
const MOST_PRICED = 100;

export const live: Live = {
  requires: [...WATCHING, 'parts.recognize', 'damage.detect', 'damage.severity'],
  hasWork: ({ stage, found }) => {
    switch (stage as Stage) {
      case 'severity_grading':
        return takenViews(found).some((_, index) => detectedAt(found, index).findings.length > 0);
      case 'repair_estimate':
        return damagesIn(found).length > 0;
      case 'report':
        return (valueAt(found, 'merge', 0)?.overall ?? null) !== null;
      default:
        return true;
    }
  },
  runUnit: (unit, infer, tools) => UNITS[unit.stage as Stage](unit, infer, tools),
};

const UNITS: Record<Stage, Live['runUnit']> = {
  intake: async ({ index, inputs }, infer, tools) => {
    const input = inputs[index];
    if (!input) throw new Error(`the job has no file ${index}`);
    if (!input.mediaType.startsWith('video/')) {
      return { ...succeeded('intake', [{ image_index: index, time_offset_ms: null, frame: null }], 0), foundUnits: 1 };
    }
    const wanted = { views: [...COMPASS_VIEWS], framesPerView: 1 };
    const { key_frames, coverage } = await findKeyFrames(input, wanted, infer, tools);
    const taken = key_frames.map(({ time_offset_ms, image, view, confidence, quality_issues }) => ({
      image_index: index,
      time_offset_ms,
      frame: image,
      seen: seenOf({ value: view, confidence }, quality_issues),
    }));
    return { ...succeeded('intake', taken, chargeOfVideo(coverage)), foundUnits: taken.length };
  },

  view_classification: async (unit, infer) => {
    const { taken, picture } = viewOf(unit);
    if (taken.seen) return succeeded('view_classification', taken.seen, 0);
    const { view, quality_issues } = await resultOf<Pose>(infer, 'vehicle.pose', picture);
    return succeeded('view_classification', seenOf(view, quality_issues), vehiclePose.priceCredits);
  },

  damage_detection: async (unit, infer) => {
    const { picture } = viewOf(unit);
    const { damages, parts_seen } = await resultOf<Damages>(infer, 'damage.detect', picture);
    const { parts } = await resultOf<Parts>(infer, 'parts.recognize', picture);
    const value = {
      parts: [...parts_seen, ...parts].map(({ part, side, confidence }) => ({ part, side, confidence })),
      findings: damages.map(({ id: _id, size: _size, ...finding }) => finding),
      sizes: damages.map(({ size }) => size),
    };
    return succeeded('damage_detection', value, damageDetect.priceCredits);
  },

  severity_grading: async (unit, infer) => {
    const { findings, sizes } = detectedAt(unit.found, unit.index);
    if (findings.length === 0) return succeeded('severity_grading', { grades: [], drivable: null }, 0);
    const requested = findings
      .slice(0, MOST_GRADED)
      .map((finding, index) => ({ id: `damage_${index + 1}`, ...finding }));
    const { picture } = viewOf(unit);
    const { damages, overall } = await resultOf<Severities>(infer, 'damage.severity', picture, { damages: requested });
    const grades = findings.map((_, index) => {
      const graded = damages.find(({ id }) => id === `damage_${index + 1}`);
      if (!graded) return null;
      return { severity: graded.severity, repair_method: graded.repair_method, size: sizes[index] ?? null };
    });
    const value = { grades, drivable: overall?.drivable ?? null };
    return succeeded('severity_grading', value, damageSeverity.priceCredits);
  },

  merge: async ({ found, parameters }, _infer, tools) => {
    const views = takenViews(found).map((_, index) => {
      const seen = valueAt(found, 'view_classification', index);
      return {
        seen: seen?.is_usable ? seen : null,
        detected: detectedAt(found, index),
        graded: valueAt(found, 'severity_grading', index),
      };
    });
    const merged = mergeViews(
      views.map(({ seen, detected: { parts, findings }, graded }) => ({
        parts: seen ? parts : [],
        findings,
        grades: graded?.grades ?? null,
      })),
    );
    const { baseline_job_id } = parameters as Parameters;
    const baseline =
      baseline_job_id === undefined ? null : ((await tools.resultOfJob(baseline_job_id)) as Result | null);
    const overall = assessOverall({
      parts: merged.parts,
      views: views.flatMap(({ seen }) => seen?.view?.confidence ?? []),
      drivable: views.flatMap(({ graded }) => graded?.drivable ?? []),
    });
    const parts = baseline ? compareWithBaseline(merged.parts, baseline) : merged.parts;
    return succeeded('merge', { ...merged, parts, overall }, 0);
  },

  repair_estimate: async ({ found, parameters }, infer) => {
    const { vehicle, country, currency, labour_rate, paint_rate } = parameters as Parameters;
    const requested = { vehicle, country, currency, labour_rate, paint_rate };
    try {
      const estimate = await resultOf<NonNullable<Result['repair_estimate']>>(infer, 'pricing.repair', null, {
        ...Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined)),
        // As of a named job, with the confidence of each.
        foundDamages: damagesIn(found).toSorted(knownPartFirst).slice(0, MOST_PRICED),
      });
      return succeeded('repair_estimate', estimate);
    } catch (error) {
      const isWithoutBook = error instanceof ServiceError && error.code === 'model_unavailable';
      if (isWithoutBook && !asksForEstimate(parameters)) return null;
      throw error;
    }
  },

  report: async ({ found, parameters, inputs }, _infer, tools) => {
    const merged = valueAt(found, 'merge', 0);
    if (!merged) throw new Error('the report needs the merged views');
    const taken = takenViews(found);
    const seen = taken.map((_, index) => valueAt(found, 'view_classification', index));
    const shown = taken.map((view, index) => ({
      view: seen[index]?.view ?? null,
      isUsable: seen[index]?.is_usable ?? false,
      picture: pictureOf(view, inputs),
      findings: findingsOf(found, index),
    }));
    const inspected = {
      ...merged,
      views: shown,
      missingViews: missingViewsOf(seen, parameters),
      repairEstimate: valueAt(found, 'repair_estimate', 0),
      estimateOmitted: omissionOf(found, parameters),
      parameters,
    };
    return succeeded('report', await makeReport(inspected, tools), 0);
  },
};

/** Rather than getting one because it is usual. */
function asksForEstimate({ include_repair_estimate, currency, labour_rate, paint_rate }: Parameters): boolean {
  return include_repair_estimate === true || [currency, labour_rate, paint_rate].some((value) => value !== undefined);
}

function succeeded<Name extends Stage>(_stage: Name, value: StageValues[Name], chargedCredits?: number) {
  const charge = chargedCredits === undefined ? {} : { chargedCredits };
  return { status: 'succeeded', value, ...charge } as const satisfies UnitOutcome;
}

const damagesIn = (found: Found) => foundDamages({ parts: valueAt(found, 'merge', 0)?.parts ?? [] });

/** The others cannot be priced: they must not take the place of those that can. */
const knownPartFirst = (a: FoundDamage, b: FoundDamage) => Number(a.part === null) - Number(b.part === null);

function viewOf({ found, inputs, index }: Pick<StageUnit, 'found' | 'inputs' | 'index'>) {
  const taken = takenViews(found)[index];
  if (!taken) throw new Error(`the files of the job have no view ${index}`);
  return { taken, picture: pictureOf(taken, inputs) };
}

function pictureOf({ frame, image_index }: StageValues['intake'][number], inputs: readonly JobInput[]): JobInput {
  const picture = frame ? inputOfFrame(frame) : inputs[image_index];
  if (!picture) throw new Error(`the job has no file ${image_index}`);
  return picture;
}

function seenOf(view: SeenOfView['view'], issues: SeenOfView['quality_issues']): SeenOfView {
  const isBlind = issues.some(({ reason, confidence }) => BLINDING.includes(reason) && confidence >= CERTAIN);
  return { view, is_usable: view !== null && !isBlind, quality_issues: issues };
}
