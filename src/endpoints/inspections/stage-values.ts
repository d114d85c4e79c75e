/** The value that each stage of an inspection produces per unit, in test mode and live mode. */
import type { Found } from '../../contracts/job.ts';
import { foundValue } from '../../inference/bundles/bundle-definition.ts';
import { requestedDetections } from '../shared/requested-detections.ts';
import type { Grade, MergedViews, SeenFinding, SeenPart } from './merge-views.ts';
import { DEFAULT_EXPECTED_VIEWS, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import type { Stage } from './stage-plan.ts';

type View = Result['views'][number];
type Overall = NonNullable<Result['overall']>;

export interface StageValues {
  /** The views of one file: its picture, or the key frames of its video. */
  intake: TakenView[];
  view_classification: SeenOfView;
  damage_detection: Detected;
  severity_grading: Graded;
  merge: MergedViews & { overall: Result['overall'] };
  repair_estimate: Result['repair_estimate'];
  report: Result['report'];
}

export type SeenOfView = Pick<View, 'view' | 'is_usable' | 'quality_issues'>;

export interface TakenView extends Pick<View, 'image_index' | 'time_offset_ms' | 'frame'> {
  /** Set for a key frame, which arrives with its view. */
  seen?: SeenOfView;
}

export interface Detected {
  parts: SeenPart[];
  findings: SeenFinding[];
  /** One per finding, in the same order. */
  sizes: Grade['size'][];
}

export interface Graded {
  /** One per finding, in the same order; null for a finding that could not be graded. */
  grades: (Grade | null)[];
  /** Based on this view alone. */
  drivable: Overall['drivable'] | null;
}

export function valueAt<Name extends Stage>(found: Found, stage: Name, index: number): StageValues[Name] | null {
  return foundValue<StageValues[Name]>(found[stage]?.[index]);
}

/** The views of all files in order: the units of the later stages. */
export function takenViews(found: Found): TakenView[] {
  return (found.intake ?? []).flatMap((outcome) => foundValue<TakenView[]>(outcome) ?? []);
}

/** The detections in a view. If the view shows one side only, parts with an unknown side get that side. */
export function detectedAt(found: Found, index: number): Detected {
  const { parts, findings, sizes } = valueAt(found, 'damage_detection', index) ?? {
    parts: [],
    findings: [],
    sizes: [],
  };
  const view = valueAt(found, 'view_classification', index)?.view;
  const hint = view ? { view_hint: view.value } : {};
  return { parts: requestedDetections(parts, hint), findings: requestedDetections(findings, hint), sizes };
}

/** Expected views that no usable picture shows. */
export function missingViewsOf(views: readonly (SeenOfView | null)[], parameters: Parameters): Result['missing_views'] {
  const { expected_views = [...DEFAULT_EXPECTED_VIEWS] } = parameters;
  const shown = new Set(views.map((seen) => (seen?.is_usable ? seen.view?.value : undefined)));
  return expected_views.filter((view) => !shown.has(view));
}

/** Why there is no estimate once its stage has ended; null if there is one. A stage that was skipped left nothing. */
export function omissionOf(found: Found, { include_repair_estimate: wanted }: Parameters): EstimateOmission | null {
  if (wanted === false) return 'not_requested';
  if (valueAt(found, 'repair_estimate', 0)) return null;
  const parts = valueAt(found, 'merge', 0)?.parts ?? [];
  if (parts.every(({ damages }) => damages.length === 0)) return 'nothing_to_repair';
  return found.repair_estimate?.some(({ status }) => status === 'failed') ? 'failed' : 'no_price_book';
}

type EstimateOmission = NonNullable<Result['repair_estimate_omitted']>;

/** A view's findings, each with the damage that it was merged into. */
export function findingsOf(found: Found, view: number): View['findings'] {
  const ids = valueAt(found, 'merge', 0)?.damageIds[view] ?? [];
  return detectedAt(found, view).findings.flatMap((finding, index) => {
    const damage_id = ids[index];
    return damage_id ? [{ damage_id, ...finding }] : [];
  });
}
