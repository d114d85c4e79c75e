import type { UnitOutcome } from '../../contracts/job.ts';
import type { BundleDefinition, StageUnit } from '../../inference/bundles/bundle-definition.ts';
import { live } from './live.ts';
import { mergeViews } from './merge-views.ts';
import type { Result } from './result.ts';
import type { Stage } from './stage-plan.ts';
import {
  detectedAt,
  findingsOf,
  missingViewsOf,
  omissionOf,
  type SeenOfView,
  type StageValues,
  valueAt,
} from './stage-values.ts';

type View = Result['views'][number];

export const bundle: BundleDefinition<Result> = {
  unitOfFixture: (unit, fixture) => UNITS[unit.stage as Stage](unit, fixture),
  live,
  compose: (found, { inputs, parameters }) => {
    const merged = valueAt(found, 'merge', 0);
    const intake = inputs.map((_, file) => valueAt(found, 'intake', file));
    const views = intake
      .flatMap((seen) => seen ?? [])
      .map(({ seen: _seen, ...taken }, index) => ({
        ...taken,
        ...(valueAt(found, 'view_classification', index) ?? UNSEEN),
        findings: findingsOf(found, index),
      }));
    // Unreadable files come last, so that the view indexes in the result stay valid.
    const unread = intake.flatMap((seen, image_index) =>
      seen ? [] : [{ image_index, time_offset_ms: null, frame: null, ...UNSEEN, findings: [] }],
    );
    return {
      result: {
        overall: merged?.overall ?? null,
        views: [...views, ...unread],
        missing_views: missingViewsOf(views, parameters),
        parts: merged?.parts ?? [],
        repair_estimate: valueAt(found, 'repair_estimate', 0),
        repair_estimate_omitted: omissionOf(found, parameters),
        report: valueAt(found, 'report', 0),
      },
    };
  },
};

const UNSEEN: SeenOfView = { view: null, is_usable: false, quality_issues: [] };

type UnitOfFixture = (unit: StageUnit, fixture: Result) => UnitOutcome;

const UNITS: Record<Stage, UnitOfFixture> = {
  intake: ({ index }, { views }) => {
    const taken = views.filter(({ image_index }) => image_index === index);
    return {
      ...succeeded<'intake'>(
        taken.map(({ image_index, time_offset_ms, frame }) => ({ image_index, time_offset_ms, frame })),
      ),
      foundUnits: taken.length,
    };
  },
  view_classification: ({ index }, fixture) => {
    const { view, is_usable, quality_issues } = viewAt(fixture, index);
    return succeeded<'view_classification'>({ view, is_usable, quality_issues });
  },
  damage_detection: ({ index }, fixture) => {
    const seen = fixture.parts.filter(({ views }) => views.includes(index));
    const { findings } = viewAt(fixture, index);
    return succeeded<'damage_detection'>({
      parts: seen.map(({ part, side, confidence }) => ({ part, side, confidence })),
      findings: findings.map(({ damage_id: _damageId, ...finding }) => finding),
      sizes: findings.map(({ damage_id }) => damageOf(fixture, damage_id).size),
    });
  },
  severity_grading: ({ index }, fixture) => {
    const graded = viewAt(fixture, index).findings.map(({ damage_id }) => damageOf(fixture, damage_id));
    return succeeded<'severity_grading'>({
      grades: graded.map(({ severity, repair_method, size }) => ({ severity, repair_method, size })),
      drivable: null,
    });
  },
  // Test mode merges the views like live mode, but does not compare a baseline: the fixture states what is new.
  merge: ({ found }, fixture) => {
    const { parts, damageIds } = mergeViews(
      (found.damage_detection ?? []).map((_, index) => ({
        ...detectedAt(found, index),
        grades: valueAt(found, 'severity_grading', index)?.grades ?? null,
      })),
    );
    const compared = parts.map((part) => ({
      ...part,
      damages: part.damages.map((damage) => ({ ...damage, is_new: damageOf(fixture, damage.id).is_new })),
    }));
    return succeeded<'merge'>({ overall: fixture.overall, parts: compared, damageIds });
  },
  repair_estimate: (_, fixture) => succeeded<'repair_estimate'>(fixture.repair_estimate),
  report: (_, fixture) => succeeded<'report'>(fixture.report),
};

function succeeded<Name extends Stage>(value: StageValues[Name]) {
  return { status: 'succeeded', value } as const;
}

function viewAt({ views }: Result, index: number): View {
  const view = views[index];
  if (!view) throw new Error(`the fixture has no view ${index}`);
  return view;
}

function damageOf({ parts }: Result, id: string) {
  const damage = parts.flatMap(({ damages }) => damages).find((known) => known.id === id);
  if (!damage) throw new Error(`the fixture has no ${id}`);
  return damage;
}
