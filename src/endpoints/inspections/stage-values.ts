/** What each stage of an inspection finds of one unit, in test mode as in live mode. */
import type { Found } from '../../contracts/job.ts';
import { askedDetections } from '../../domain/asked-detections.ts';
import { foundValue } from '../../inference/staged-endpoint.ts';
import type { Grade, MergedViews, SeenFinding, SeenPart } from './merge-views.ts';
import type { Result } from './result.ts';
import type { Stage } from './stages.ts';

type View = Result['views'][number];
type Overall = NonNullable<Result['overall']>;

export interface StageValues {
  /** Of one file: its picture, or the key frames of its video. */
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
  /** Of a key frame, which comes with its view. */
  seen?: SeenOfView;
}

export interface Detected {
  parts: SeenPart[];
  findings: SeenFinding[];
  /** Of the findings, in their order. */
  sizes: Grade['size'][];
}

export interface Graded {
  /** Of the findings of the view, in their order; null of one that could not be graded. */
  grades: (Grade | null)[];
  /** By what this view shows. */
  drivable: Overall['drivable'] | null;
}

export function valueAt<Name extends Stage>(found: Found, stage: Name, index: number): StageValues[Name] | null {
  return foundValue<StageValues[Name]>(found[stage]?.[index]);
}

/** The views that the files gave, in order: what the later stages have as their units. */
export function takenViews(found: Found): TakenView[] {
  return (found.intake ?? []).flatMap((outcome) => foundValue<TakenView[]>(outcome) ?? []);
}

/** What the view shows; where it shows one side of the vehicle alone, the parts that leave theirs open are of that side. */
export function detectedAt(found: Found, index: number): Detected {
  const { parts, findings, sizes } = valueAt(found, 'damage_detection', index) ?? {
    parts: [],
    findings: [],
    sizes: [],
  };
  const view = valueAt(found, 'view_classification', index)?.view;
  const hint = view ? { view_hint: view.value } : {};
  return { parts: askedDetections(parts, hint), findings: askedDetections(findings, hint), sizes };
}
