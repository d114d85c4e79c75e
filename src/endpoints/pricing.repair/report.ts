/** The report of a repair estimate: its operations with their steps, and how the amounts add up. */
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import { conversion, money, type Report, type Section, waterfall, words } from '../shared/price-report.ts';
import { writeReport } from '../shared/write-report.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Adds the report that the request asks for. */
export async function withReport(result: Result, parameters: Parameters, write: WriteArtefact): Promise<Result> {
  if (parameters.include_report !== true) return result;
  return { ...result, report: await writeReport(reportOf(result, parameters), write) };
}

export function reportOf(result: Result, { vehicle }: Pick<Parameters, 'vehicle'>): Report {
  const { rates, currency, price_book, priced_on, region, country, exchange_rate: rate, repair_days: days } = result;
  const name = [vehicle?.make, vehicle?.model, vehicle?.year].filter(Boolean).join(' ');
  return {
    title: 'Repair estimate',
    lines: [
      ...(name === '' ? [] : [name]),
      `Labour ${money(rates.labour, currency)} and paint ${money(rates.paint, currency)} an hour, ${
        rates.source === 'request' ? 'as requested' : `the rates of ${region ?? country}`
      }.`,
      ...(price_book === undefined ? [] : [`Priced by ${price_book}, as of ${priced_on}.`]),
      ...(rate ? [conversion(rate)] : []),
      ...(days === null ? [] : [`About ${days} working days.`]),
      'Covers visible or stated damage, not what only dismantling would reveal.',
    ],
    sections: [operations(result), sums(result), ...notPriced(result)],
  };
}

const placeOf = ({ part, side }: { part: string | null; side: string | null }) =>
  part === null ? '' : `${side === 'none' || side === null ? '' : `${side} `}${words(part)}`;

function operations({ operations: found, totals, currency }: Result): Section {
  const rows = found.flatMap((operation) => [
    [
      `${words(operation.method)}: ${placeOf(operation)}`,
      hours(operation.labour_hours),
      hours(operation.paint_hours),
      money(operation.paint_materials + sum(operation.parts.map(({ total }) => total)), currency),
      money(operation.net, currency),
    ],
    // The steps that are not the repair itself; they are part of the line above.
    ...(operation.steps ?? [])
      .filter(({ kind }) => kind !== 'repair')
      .map((step) => [
        `   incl. ${words(step.kind)} ${placeOf(step)}`.trimEnd(),
        hours(step.labour_hours),
        hours(step.paint_hours),
        step.paint_materials === 0 ? '' : money(step.paint_materials, currency),
        '',
      ]),
    ...operation.parts.map((part) => [
      `   incl. ${part.quantity} ${words(part.quality)} ${placeOf(part)}${part.part_number ? `, ${part.part_number}` : ''}`,
      '',
      '',
      money(part.total, currency),
      '',
    ]),
  ]);
  return {
    kind: 'table',
    title: 'Operations',
    table: {
      head: ['Operation', 'Labour', 'Paint', 'Materials, parts', 'Net'],
      rows: [...rows, ['Net', '', '', '', money(totals.net, currency)]],
      widths: [0.46, 0.1, 0.1, 0.16, 0.18],
      amounts: [1, 2, 3, 4],
      hasTotal: true,
    },
  };
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

const hours = (value: number) => (value === 0 ? '' : `${value.toFixed(2)} h`);

function sums({ totals, currency }: Result): Section {
  const steps = [
    { label: 'Labour', amount: totals.labour },
    { label: 'Paint', amount: totals.paint },
    { label: 'Paint materials', amount: totals.paint_materials },
    { label: 'Parts', amount: totals.parts },
    { label: `Tax ${totals.tax_rate_percent} %`, amount: totals.tax },
  ];
  return { kind: 'waterfall', title: 'How the total adds up', bars: waterfall(null, steps, 'Gross', currency) };
}

const REASONS: Readonly<Record<Result['not_priced'][number]['reason'], string>> = {
  part_unknown: 'its part is unknown',
  no_repair_data: 'the price book lacks the work or a part for it',
  not_visible: 'it is not visible',
  cleaning_only: 'it needs cleaning only',
};

function notPriced({ not_priced: damages }: Result): Section[] {
  if (damages.length === 0) return [];
  const rows = damages.map(({ damage_id, reason }) => [damage_id, REASONS[reason]]);
  const table = { head: ['Damage', 'Why'], rows, widths: [0.3, 0.7], amounts: [], hasTotal: false };
  return [{ kind: 'table', title: 'Not priced', table }];
}
