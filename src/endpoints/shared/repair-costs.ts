/** The arithmetic of repair estimates: every amount follows from hours, rates and part prices. */
import type { RepairEstimate } from '../../contracts/vocabulary/repairs.ts';

type Operation = RepairEstimate['operations'][number];

export interface RequestedRates {
  country?: string;
  currency?: string;
  /** Minor units per hour. */
  labour_rate?: number;
  paint_rate?: number;
}

/** Prices an estimate at the requested rates, or else at its own. */
export function priceRepairs(estimate: RepairEstimate, requested: RequestedRates): RepairEstimate {
  const { labour_rate, paint_rate = labour_rate, country, currency } = requested;
  const rates: RepairEstimate['rates'] = {
    labour: labour_rate ?? estimate.rates.labour,
    paint: paint_rate ?? estimate.rates.paint,
    source: labour_rate === undefined ? estimate.rates.source : 'request',
  };
  const operations = estimate.operations.map((operation) => priceOperation(operation, rates));
  const totals = addUp(operations, estimate.totals.tax_rate_percent);
  return {
    ...estimate,
    country: country ?? estimate.country,
    currency: currency ?? estimate.currency,
    rates,
    operations,
    totals,
    range: inProportion(estimate, totals.gross),
  };
}

function priceOperation(operation: Operation, rates: RepairEstimate['rates']): Operation {
  const labour = Math.round(operation.labour_hours * rates.labour);
  const paint = Math.round(operation.paint_hours * rates.paint);
  const parts = operation.parts.map((part) => ({ ...part, total: part.quantity * part.unit_price }));
  const net = labour + paint + operation.paint_materials + sum(parts.map(({ total }) => total));
  return { ...operation, labour, paint, parts, net };
}

function addUp(operations: readonly Operation[], taxRatePercent: number): RepairEstimate['totals'] {
  const labour = sum(operations.map((operation) => operation.labour));
  const paint = sum(operations.map((operation) => operation.paint));
  const paintMaterials = sum(operations.map((operation) => operation.paint_materials));
  const parts = sum(operations.flatMap((operation) => operation.parts.map(({ total }) => total)));
  const net = labour + paint + paintMaterials + parts;
  const tax = Math.round((net * taxRatePercent) / 100);
  return {
    labour,
    paint,
    paint_materials: paintMaterials,
    parts,
    net,
    tax_rate_percent: taxRatePercent,
    tax,
    gross: net + tax,
  };
}

/** Scales the range to another total. */
function inProportion({ range, totals }: RepairEstimate, gross: number): RepairEstimate['range'] {
  if (!range || totals.gross === 0) return range;
  const scale = gross / totals.gross;
  return { low: Math.round(range.low * scale), high: Math.round(range.high * scale) };
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
