/** Renders the figures as a table for the terminal and for Markdown. */
import { describeMachine, type Machine } from './machine.ts';
import { type Comparison, type Goal, isReached, type SideReport } from './measure.ts';
import type { Spread } from './statistics.ts';

export interface Report {
  startedAt: string;
  seconds: number;
  /** Null outside a checkout. */
  commit: string | null;
  quick: boolean;
  machine: Machine;
  postgres: string;
  comparisons: Comparison[];
  broken: string[];
  notes: string[];
}

export function renderReport(report: Report): string {
  const { startedAt, seconds, commit, quick, machine, postgres, comparisons, broken, notes } = report;
  return [
    `Measured ${startedAt.slice(0, 16).replace('T', ' ')} UTC, in ${Math.round(seconds)} s, with \`npm run bench\`` +
      `${commit ? `, of ${commit}` : ''}.`,
    describeMachine(machine),
    `PostgreSQL ${postgres}, durable (fsync on); Temporal's development server on a SQLite file; all on loopback.`,
    ...(quick ? ['QUICK: far too few turns for a figure that means anything.'] : []),
    ...notes,
    '',
    'A and B ran in turn, A B A B; a ratio is that of one round, and the goal is held against the median of the rounds.',
    'CPU: milliseconds a job, of every process involved, the load generator included. By CPU: that of B ÷ that of A, which',
    'is the ratio of jobs/s on full cores; on a shared machine it says more than jobs/s do.',
    '',
    ...renderTable(comparisons),
    '',
    ...comparisons.flatMap(renderSides),
    `Invariants: ${broken.length === 0 ? 'held (no ledger drift, no overdraft, no job lost)' : 'BROKEN'}`,
    ...broken.map((finding) => `- ${finding}`),
    '',
  ].join('\n');
}

function renderTable(comparisons: readonly Comparison[]): string[] {
  const rows = [
    ['Measure', 'A', 'B', 'A ÷ B', 'By CPU', 'Goal', 'Reached'],
    ...comparisons.map((comparison) => {
      const { name, unit, a, b, ratio, cpuRatio, goal } = comparison;
      return [
        name,
        `${a.name}: ${valueText(a, unit)}`,
        `${b.name}: ${valueText(b, unit)}`,
        spreadText(ratio, 2),
        cpuRatio === null ? '–' : cpuRatio.toFixed(2),
        goal ? goalText(goal) : '–',
        reachedText(comparison),
      ];
    }),
  ];
  const widths = (rows[0] as string[]).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines;
}

function renderSides(comparison: Comparison): string[] {
  return [
    `${comparison.name}`,
    ...[comparison.a, comparison.b].flatMap((side, index) => [
      `- ${'AB'.charAt(index)}, ${side.name}: ${side.what}. ${side.jobs} jobs in ${side.values.length} turns.`,
      ...(side.cpuMsPerJobByProcess ? [`  CPU ms a job: ${cpuText(side.cpuMsPerJobByProcess)}`] : []),
    ]),
    '',
  ];
}

function valueText(side: SideReport, unit: string): string {
  const cpu = side.cpuMsPerJob === null ? '' : `, ${figure(side.cpuMsPerJob)} ms CPU`;
  return `${spreadText(side.value)} ${unit}${cpu}`;
}

function cpuText(byProcess: Readonly<Record<string, number>>): string {
  return Object.entries(byProcess)
    .map(([name, milliseconds]) => `${name} ${figure(milliseconds)}`)
    .join(', ');
}

function spreadText({ median, minimum, maximum }: Spread, decimals?: number): string {
  const text = (value: number) => (decimals === undefined ? figure(value) : value.toFixed(decimals));
  return `${text(median)} [${text(minimum)}–${text(maximum)}]`;
}

function goalText(goal: Goal): string {
  return 'atLeast' in goal ? `≥ ${goal.atLeast.toFixed(2)}` : `≤ ${goal.atMost.toFixed(2)}`;
}

/** The median decides; disagreeing rounds are reported too. */
function reachedText({ goal, ratios, reached }: Comparison): string {
  if (!goal) return '–';
  const agree = ratios.every((ratio) => isReached(ratio, goal) === reached);
  if (reached) return agree ? 'yes' : 'mostly';
  return agree ? 'NO' : 'mostly not';
}

/** Three significant digits, and two for small values. */
function figure(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.1) return value.toPrecision(2);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
