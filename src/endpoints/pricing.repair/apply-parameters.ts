import type { FoundDamage } from '../shared/found-damages.ts';
import { priceRepairs } from '../shared/repair-costs.ts';
import { type DamageToRepair, methodOf, notPricedReason } from '../shared/repair-rules.ts';
import type { ResolvedParameters } from './references.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import { priceOfPart, workOf } from './test-mode-work.ts';

type Operation = Result['operations'][number];
type NotPriced = Result['not_priced'][number];
type Requested = NonNullable<Parameters['damages']>[number];
type Quality = NonNullable<Parameters['part_quality']>;
type Damage = DamageToRepair & Pick<FoundDamage, 'id' | 'side'>;
type PricedDamage = Damage & { part: Operation['part'] };

/** Price of a part of each quality as a fraction of the original part. */
const PRICE_FRACTIONS: Readonly<Record<Quality, number>> = { original: 1, equivalent: 0.65, used: 0.4 };

const HOURS_PER_DAY = 8;
/** Intake and drying add a working day to every repair. */
const ADDITIONAL_DAYS = 1;

/** Applies the request to a fixture: the damages of the request or of the named job, by rule, at the requested rates. */
export function applyParameters(fixture: Result, parameters: ResolvedParameters): Result {
  const { part_quality = 'original' } = parameters;
  const damages = damagesOf(parameters);
  const estimate = damages ? estimateOf(damages, fixture) : fixture;
  const operations = estimate.operations.map((operation) => ofQuality(operation, part_quality));
  const priced = priceRepairs({ ...estimate, operations }, parameters);
  return {
    ...priced,
    operations: priced.operations
      .toSorted((a, b) => b.net - a.net)
      .map((operation, index) => ({ ...operation, id: `operation_${index + 1}` })),
  };
}

function damagesOf({ damages, foundDamages }: ResolvedParameters): Damage[] | undefined {
  return (
    foundDamages?.map(({ id, type, part, side, severity, repairMethod }) => ({
      id,
      type,
      part,
      side,
      severity: severity?.value ?? null,
      method: repairMethod,
    })) ?? damages?.map(requestedDamage)
  );
}

function requestedDamage({ id, type, part, side, severity, repair_method }: Requested, index: number): Damage {
  return {
    id: id ?? `damage_${index + 1}`,
    type,
    part,
    side: side ?? null,
    severity: severity ?? null,
    method: repair_method ?? null,
  };
}

/** Every damage is in an operation or in `not_priced`, unless the scenario has nothing to repair. */
function estimateOf(damages: readonly Damage[], fixture: Result): Result {
  if (fixture.operations.length === 0) return fixture;
  const refused = unpriced(damages, fixture.not_priced);
  const ids = new Set(refused.map(({ damage_id }) => damage_id));
  const priced = damages.flatMap(({ part, ...damage }) =>
    part === null || ids.has(damage.id) ? [] : [{ ...damage, part }],
  );
  const confidence = Math.min(...fixture.operations.map((operation) => operation.confidence ?? 1));
  const operations = byPart(priced).flatMap((onPart) => operationsOn(onPart, confidence));
  return { ...fixture, operations, not_priced: refused, repair_days: daysOf(operations) };
}

/** Damages that the rules cannot price, and the last ones if the scenario leaves some unpriced. */
function unpriced(damages: readonly Damage[], ofScenario: readonly NotPriced[]): NotPriced[] {
  const byRule = damages.flatMap((damage) => {
    const reason = notPricedReason(damage);
    return reason ? [{ damage_id: damage.id, reason }] : [];
  });
  const others = damages.filter(({ id }) => !byRule.some(({ damage_id }) => damage_id === id));
  const last = others.slice(Math.max(0, others.length - ofScenario.length));
  const byScenario = last.flatMap(({ id }, index) => {
    const reason = ofScenario[index]?.reason;
    return reason ? [{ damage_id: id, reason }] : [];
  });
  return [...byRule, ...byScenario];
}

function byPart(damages: readonly PricedDamage[]): PricedDamage[][] {
  const groups = Map.groupBy(damages, ({ part, side }) => `${part} ${side}`);
  return [...groups.values()];
}

/** A new part repairs all its damages at once; otherwise each is repaired separately. */
function operationsOn(damages: readonly PricedDamage[], confidence: number): Operation[] {
  const repairs = damages.map((damage) => ({ damages: [damage], method: methodOf(damage) }));
  const isReplaced = repairs.some(({ method }) => method === 'replace');
  return (isReplaced ? [{ damages, method: 'replace' as const }] : repairs).flatMap(({ damages: repaired, method }) => {
    const [first] = repaired;
    if (!first) return [];
    const { part, side } = first;
    const { labourHours, paintHours, paintMaterials } = workOf(method, first);
    return {
      id: 'operation_0',
      damage_ids: repaired.map(({ id }) => id),
      part,
      side,
      method,
      labour_hours: labourHours,
      paint_hours: paintHours,
      labour: 0,
      paint: 0,
      paint_materials: paintMaterials,
      parts: method === 'replace' ? [newPart({ part, side })] : [],
      net: 0,
      confidence,
    };
  });
}

function newPart(place: Pick<Operation, 'part' | 'side'>): Operation['parts'][number] {
  return {
    ...place,
    part_number: null,
    quality: 'original',
    quantity: 1,
    unit_price: priceOfPart(place.part),
    total: 0,
  };
}

function daysOf(operations: readonly Operation[]): number {
  const hours = operations.reduce((sum, { labour_hours, paint_hours }) => sum + labour_hours + paint_hours, 0);
  return hours === 0 ? 0 : Math.ceil(hours / HOURS_PER_DAY) + ADDITIONAL_DAYS;
}

function ofQuality(operation: Operation, quality: Quality): Operation {
  if (quality === 'original') return operation;
  const parts = operation.parts.map((part) => ({
    ...part,
    quality,
    part_number: null,
    unit_price: Math.round(part.unit_price * PRICE_FRACTIONS[quality]),
  }));
  return { ...operation, parts };
}
