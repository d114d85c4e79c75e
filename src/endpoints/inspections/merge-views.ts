/** Merges the findings of all views: each part once, with each of its damages once. */
import { SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import type { Result } from './result.ts';

type Part = Result['parts'][number];
type Damage = Part['damages'][number];

/** A part as one view shows it. */
export type SeenPart = Pick<Part, 'part' | 'side' | 'confidence'>;
export type SeenFinding = Omit<Result['views'][number]['findings'][number], 'damage_id'>;
/** The grade of one finding in one view. */
export type Grade = Pick<Damage, 'severity' | 'repair_method' | 'size'>;

export interface SeenView {
  parts: readonly SeenPart[];
  findings: readonly SeenFinding[];
  /** One grade per finding, null for a finding that could not be graded; null if grading failed altogether. */
  grades: readonly (Grade | null)[] | null;
}

export interface MergedViews {
  parts: Part[];
  /** Per view, the damage id of each finding; null for a finding that no view could grade. */
  damageIds: (string | null)[][];
}

interface Sight {
  view: number;
  /** Of the finding in its view. */
  index: number;
  finding: SeenFinding;
  grade: Grade | null;
}

/**
 * Damages of one type on one part are one damage, however many views show it. It has all those views, their highest
 * confidence and the most confident grade. On an unknown part each finding is a damage of its own: nothing tells whether two of
 * them are the same. Damages that no view could grade are omitted.
 */
export function mergeViews(views: readonly SeenView[]): MergedViews {
  const sights = views.flatMap(({ findings, grades }, view) =>
    findings.map((finding, index): Sight => ({ view, index, finding, grade: grades?.[index] ?? null })),
  );
  const damages = grouped(sights, damageKey).flatMap(({ key, items }) => toDamage(key, items));
  const seenParts = views.flatMap(({ parts, findings, grades }, view) => [
    ...parts.map((part) => ({ ...part, view })),
    // A view that shows a damage also shows its part.
    ...findings.flatMap(({ part, side, confidence }, index) =>
      part === null && !grades?.[index] ? [] : [{ part, side, confidence, view }],
    ),
  ]);
  const parts = grouped(seenParts, partKey)
    .map(({ key, items }) => ({ part: toPart(items), damages: damagesOn(key, damages) }))
    .toSorted((a, b) => byDamage(a.damages[0], b.damages[0]));

  const ids = new Map<string, string>();
  for (const { key } of parts.flatMap((part) => part.damages)) ids.set(key, `damage_${ids.size + 1}`);
  return {
    parts: parts.map((merged) => ({
      ...merged.part,
      worst_severity: merged.damages[0]?.damage.severity.value ?? null,
      damages: merged.damages.map(({ key, damage }) => ({ id: ids.get(key) ?? '', ...damage })),
    })),
    damageIds: views.map(({ findings }, view) =>
      findings.map((finding, index) => ids.get(damageKey({ view, index, finding })) ?? null),
    ),
  };
}

interface MergedDamage {
  key: string;
  partKey: string;
  damage: Omit<Damage, 'id'>;
}

function toDamage(key: string, sights: readonly Sight[]): MergedDamage[] {
  const grades = sights.flatMap(({ grade }) => grade ?? []);
  const [surest] = grades.toSorted((a, b) => b.severity.confidence - a.severity.confidence);
  const [first] = sights;
  if (!surest || !first) return [];
  const damage = {
    type: first.finding.type,
    confidence: Math.max(...sights.map(({ finding }) => finding.confidence)),
    ...surest,
    is_new: null,
    views: distinct(sights.map(({ view }) => view)),
  };
  return [{ key, partKey: partKey(first.finding), damage }];
}

function damagesOn(part: string, damages: readonly MergedDamage[]): MergedDamage[] {
  return damages
    .filter((merged) => merged.partKey === part)
    .toSorted((a, b) => rank(b) - rank(a) || b.damage.confidence - a.damage.confidence);
}

function toPart(seen: readonly (SeenPart & { view: number })[]): Omit<Part, 'worst_severity' | 'damages'> {
  const [first] = seen;
  if (!first) throw new TypeError('no view shows the part');
  return {
    part: first.part,
    side: first.side,
    confidence: Math.max(...seen.map(({ confidence }) => confidence)),
    views: distinct(seen.map(({ view }) => view)),
  };
}

/** Damaged parts first, in the order in which the views show their worst damages. */
function byDamage(a: MergedDamage | undefined, b: MergedDamage | undefined): number {
  if (!a || !b) return Number(!a) - Number(!b);
  return Math.min(...a.damage.views) - Math.min(...b.damage.views) || rank(b) - rank(a);
}

/** Higher is worse. */
const rank = ({ damage }: MergedDamage) => SEVERITIES.indexOf(damage.severity.value);
const partKey = ({ part, side }: Pick<SeenFinding, 'part' | 'side'>) => `${part} ${side}`;
const damageKey = ({ view, index, finding }: Pick<Sight, 'view' | 'index' | 'finding'>) =>
  finding.part === null ? `${partKey(finding)} ${view} ${index}` : `${partKey(finding)} ${finding.type}`;
const distinct = (views: readonly number[]) => [...new Set(views)];

/** Groups in the order of their first items. */
function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): { key: string; items: Item[] }[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups].map(([key, members]) => ({ key, items: members }));
}
