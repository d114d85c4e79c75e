import type { JobInput } from '../../contracts/job.ts';
import { priceRepairs } from '../shared/repair-costs.ts';
import { DEFAULT_EXPECTED_VIEWS, type Parameters } from './request.ts';
import type { Result } from './result.ts';

type View = Result['views'][number];
type Part = Result['parts'][number];
type Damage = Part['damages'][number];

/** When a test-mode video shows the views of the fixture. */
const FIRST_FRAME_MS = 1_500;
const FRAME_DISTANCE_MS = 4_000;

/** Applies the request to a fixture. Each picture stands for one view of the fixture, in rotation; a video for all. */
export function applyParameters(result: Result, parameters: Parameters, inputs: readonly JobInput[] = []): Result {
  const { expected_views = [...DEFAULT_EXPECTED_VIEWS], include_report, baseline_job_id } = parameters;
  const shown =
    inputs.length === 0 ? result.views.map((view, from) => ({ view, from })) : sentViews(result.views, inputs);
  const parts = seenParts(
    result.parts,
    shown.map(({ from }) => from),
  );
  const views = shown.map(({ view }) => view);
  const seen = new Set(views.filter((view) => view.is_usable).map((view) => view.view?.value));
  return {
    ...result,
    views,
    missing_views: expected_views.filter((view) => !seen.has(view)),
    parts: parts.map((part) => ({ ...part, damages: compared(part.damages, baseline_job_id !== undefined) })),
    repair_estimate: estimateOf(result.repair_estimate, parts, parameters),
    report: include_report === false ? null : result.report,
  };
}

/** `from` is the index of the view in the fixture. */
function sentViews(views: readonly View[], inputs: readonly JobInput[]): { view: View; from: number }[] {
  return inputs.flatMap(({ mediaType }, imageIndex) => {
    const isVideo = mediaType.startsWith('video/');
    const taken = isVideo ? views.map((_, from) => from) : [imageIndex % views.length];
    return taken.flatMap((from) => {
      const view = views[from];
      if (!view) return [];
      const time_offset_ms = isVideo ? FIRST_FRAME_MS + from * FRAME_DISTANCE_MS : null;
      return [{ view: { ...view, image_index: imageIndex, time_offset_ms, frame: isVideo ? view.frame : null }, from }];
    });
  });
}

/** The parts and damages that the views show. `origins` are the indexes of those views in the fixture. */
function seenParts(parts: readonly Part[], origins: readonly number[]): Part[] {
  const indexesOf = (views: readonly number[]) =>
    origins.flatMap((from, index) => (views.includes(from) ? [index] : []));
  const seen = <Item extends { views: number[] }>(items: readonly Item[]): Item[] =>
    items.map((item) => ({ ...item, views: indexesOf(item.views) })).filter(({ views }) => views.length > 0);
  return seen(parts).map((part) => {
    const damages = seen(part.damages);
    return { ...part, damages, worst_severity: damages.length > 0 ? part.worst_severity : null };
  });
}

/** With a baseline, the worst damage of each part is new. */
function compared(damages: readonly Damage[], hasBaseline: boolean): Damage[] {
  return damages.map((damage, index) => ({ ...damage, is_new: hasBaseline ? index === 0 : damage.is_new }));
}

function estimateOf(
  estimate: Result['repair_estimate'],
  parts: readonly Part[],
  parameters: Parameters,
): Result['repair_estimate'] {
  if (!estimate || parameters.include_repair_estimate === false) return null;
  const ids = new Set(parts.flatMap(({ damages }) => damages.map(({ id }) => id)));
  const operations = estimate.operations.filter(({ damage_ids }) => damage_ids.some((id) => ids.has(id)));
  const notPriced = estimate.not_priced.filter(({ damage_id }) => ids.has(damage_id));
  return priceRepairs({ ...estimate, operations, not_priced: notPriced }, parameters);
}
