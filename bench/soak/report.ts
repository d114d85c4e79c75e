/** The report of a soak, in Markdown. */
import { describeMachine, type Machine } from '../machine.ts';
import { GROUPS, GROWTH_SHARE, type Judged, judge, SHORTEST_MINUTES } from './judgement.ts';
import type { SoakSample } from './sampling.ts';

export interface SoakReport {
  startedAt: string;
  minutes: number;
  commit: string | null;
  machine: Machine;
  /** What runs, in words. */
  stack: string;
  /** Counts of what customers asked for and what came of it. */
  load: Record<string, number>;
  /** What whoever ran it has to say. */
  notes?: string[];
  broken: string[];
  samples: SoakSample[];
}

/** Series that grow, in words. */
export function findGrowing({ samples, minutes }: SoakReport): string[] {
  return GROUPS.flatMap((group) =>
    judge(group, samples, minutes)
      .filter(({ isFlat }) => isFlat === false)
      .map(({ name, slopePerHour }) => `${group.name}, ${name}: ${signed(slopePerHour)} ${group.unit} an hour`.trim()),
  );
}

export function renderSoak(report: SoakReport): string {
  const { startedAt, minutes, commit, machine, stack, load, broken, samples, notes = [] } = report;
  const growing = findGrowing(report);
  const isJudged = minutes >= SHORTEST_MINUTES;
  return [
    '# Soak',
    '',
    `${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${Number(minutes.toFixed(1))} minutes, with \`node bench/soak.ts\`` +
      `${commit ? `, of ${commit}` : ''}.`,
    describeMachine(machine),
    `${stack}.`,
    `Load: ${Object.entries(load)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}.`,
    ...notes,
    '',
    `Flat: in the last three quarters of the time a series grows by less than ${100 * GROWTH_SHARE} % of its median an hour, or ` +
      'by less than a bound for small ones: ' +
      `${GROUPS.filter(({ floor }) => floor)
        .map(({ name, unit, floor }) => `${name} ${floor} ${unit}`.trim())
        .join(', ')}.`,
    'The slope is the median of the slopes between all pairs of samples (Theil and Sen). Falling is flat.',
    '',
    isJudged
      ? `Flat: ${growing.length === 0 ? 'everything that has to be' : `NOT ${growing.length} series`}`
      : `Flat: not judged, which takes ${SHORTEST_MINUTES} minutes`,
    ...growing.map((one) => `- ${one}`),
    '',
    `Invariants: ${broken.length === 0 ? 'held (no ledger drift, no job lost or made twice, every event delivered once for each job)' : 'BROKEN'}`,
    ...broken.map((one) => `- ${one}`),
    '',
    '![Charts](soak.svg)',
    '',
    ...GROUPS.flatMap((group) => [
      `## ${group.unit ? `${group.name} (${group.unit})` : group.name}`,
      '',
      '| | First quarter | Middle half | Last quarter | Slope an hour | Flat |',
      '|---|---|---|---|---|---|',
      ...judge(group, samples, minutes).map(row),
      '',
    ]),
  ].join('\n');
}

function row({ name, first, middle, last, slopePerHour, isFlat }: Judged): string {
  const flat = isFlat === null ? '–' : isFlat ? 'yes' : 'NO';
  return `| ${name} | ${[first, middle, last].map(figure).join(' | ')} | ${signed(slopePerHour)} | ${flat} |`;
}

function figure(value: number): string {
  return Number.isNaN(value) ? '–' : String(Number(value.toPrecision(3)));
}

function signed(value: number): string {
  return value > 0 ? `+${figure(value)}` : figure(value);
}
