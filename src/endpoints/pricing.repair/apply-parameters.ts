import { priceRepairs } from '../../domain/repair-costs.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Operation = Result['operations'][number];
type Damage = NonNullable<Parameters['damages']>[number];
type Quality = NonNullable<Parameters['part_quality']>;

/** What a part of a quality costs in a fixture, as a share of the maker's own. */
const PRICE_SHARES: Readonly<Record<Quality, number>> = { original: 1, equivalent: 0.65, used: 0.4 };

/**
 * Makes the estimate of a fixture answer the damages of the request: each is repaired as one of the fixture's, in turn,
 * at the rates of the request.
 */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { damages, part_quality = 'original' } = parameters;
  const asked = damages ? answering(result, damages) : result;
  const operations = asked.operations.map((operation) => ofQuality(operation, part_quality));
  const priced = priceRepairs({ ...asked, operations }, parameters);
  return { ...priced, operations: priced.operations.toSorted((a, b) => b.net - a.net) };
}

function answering(result: Result, damages: readonly Damage[]): Result {
  const named = damages.map((damage, index) => ({ ...damage, id: damage.id ?? `damage_${index + 1}` }));
  const priced = result.operations.length === 0 ? [] : named.slice(0, named.length - result.not_priced.length);
  const operations = priced.flatMap((damage, index) => {
    const model = result.operations[index % result.operations.length];
    return model ? [repairing(damage, model, index)] : [];
  });
  const notPriced = named.slice(priced.length).flatMap(({ id }, index) => {
    const reason = result.not_priced[index]?.reason;
    return reason ? [{ damage_id: id, reason }] : [];
  });
  return { ...result, operations, not_priced: notPriced };
}

function repairing(damage: Damage & { id: string }, model: Operation, index: number): Operation {
  const place = { part: damage.part, side: damage.side ?? null };
  return {
    ...model,
    ...place,
    id: `operation_${index + 1}`,
    damage_ids: [damage.id],
    method: damage.repair_method ?? model.method,
    parts: model.parts.map((part) => ({ ...part, ...place })),
  };
}

function ofQuality(operation: Operation, quality: Quality): Operation {
  if (quality === 'original') return operation;
  const parts = operation.parts.map((part) => ({
    ...part,
    quality,
    part_number: null,
    unit_price: Math.round(part.unit_price * PRICE_SHARES[quality]),
  }));
  return { ...operation, parts };
}
