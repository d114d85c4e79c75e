/** Makes of what each view shows what is true of the vehicle: each part once, and on it each damage once. */
import { SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import type { Result } from './result.ts';

type Part = Result['parts'][number];
type Damage = Part['damages'][number];

/** What one view alone shows. */
export type SeenPart = Pick<Part, 'part' | 'side' | 'confidence'>;
export type SeenFinding = Omit<Result['views'][number]['findings'][number], 'damage_id'>;
/** How one finding of one view is graded. */
export type Grade = Pick<Damage, 'severity' | 'repair_method' | 'size'>;

export interface SeenView {
  parts: readonly SeenPart[];
  findings: readonly SeenFinding[];
  /** Of the findings, in their order; null of one, and of all, that could not be graded. */
  grades: readonly (Grade | null)[] | null;
}

export interface MergedViews {
  parts: Part[];
  /** By view, the damage of each finding; null of a finding that no view could grade. */
  damageIds: (string | null)[][];
}

interface Sight {
  view: number;
  finding: SeenFinding;
  grade: Grade | null;
}

/**
 * Damages of one type on one part are one damage, however many views show it: with all of them, at the best confidence,
 * graded by the view that grades it surest. A damage that no view could grade, or that is on no known part, is left out.
 */
export function mergeViews(views: readonly SeenView[]): MergedViews {
  const sights = views.flatMap(({ findings, grades }, view) =>
    findings.map((finding, index): Sight => ({ view, finding, grade: grades?.[index] ?? null })),
  );
  const damages = grouped(sights, ({ finding }) => damageKey(finding)).flatMap(({ key, items }) =>
    toDamage(key, items),
  );
  const seenParts = views.flatMap(({ parts, findings }, view) => [
    ...parts.map((part) => ({ ...part, view })),
    // A part is seen where a damage on it is.
    ...findings.flatMap(({ part, side, confidence }) => (part === null ? [] : [{ part, side, confidence, view }])),
  ]);
  const parts = grouped(seenParts, partKey)
    .map(({ key, items }) => ({ part: toPart(items), damages: damagesOn(key, damages) }))
    .toSorted((a, b) => byDamage(a.damages[0], b.damages[0]));

  const ids = new Map<string, string>();
  for (const { key } of parts.flatMap((part) => part.damages)) ids.set(key, `damage_${ids.size + 1}`);
  return {
    parts: parts.map((merged) => ({
      ...merged.part,
      worst_severity: (merged.damages[0]?.damage.severity.value ?? null) as Part['worst_severity'],
      damages: merged.damages.map(({ key, damage }) => ({ id: ids.get(key) ?? '', ...damage })),
    })),
    damageIds: views.map(({ findings }) => findings.map((finding) => ids.get(damageKey(finding)) ?? null)),
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
  if (!first) throw new TypeError('a part that no view shows');
  return {
    part: first.part,
    side: first.side,
    confidence: Math.max(...seen.map(({ confidence }) => confidence)),
    views: distinct(seen.map(({ view }) => view)),
  };
}

/** The damaged parts first, in the order in which the views show their worst damages. */
function byDamage(a: MergedDamage | undefined, b: MergedDamage | undefined): number {
  if (!a || !b) return Number(!a) - Number(!b);
  return Math.min(...a.damage.views) - Math.min(...b.damage.views) || rank(b) - rank(a);
}

/** The worse, the higher. */
const rank = ({ damage }: MergedDamage) => (SEVERITIES as readonly string[]).indexOf(damage.severity.value);
const partKey = ({ part, side }: Pick<SeenFinding, 'part' | 'side'>) => `${part} ${side}`;
const damageKey = (finding: SeenFinding) => `${partKey(finding)} ${finding.type}`;
const distinct = (views: readonly number[]) => [...new Set(views)];

/** In the order in which each key comes first. */
function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): { key: string; items: Item[] }[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups].map(([key, members]) => ({ key, items: members }));
}
