/** Line charts of a soak, as one SVG: a panel for each group, a line for each series. */
import { GROUPS, type Point, pointsOf } from './judgement.ts';
import type { SoakSample } from './sampling.ts';

const PANEL = { width: 560, height: 250 };
const PLOT = { left: 56, top: 34, width: 330, height: 180 };
const COLUMNS = 2;
const COLORS = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
  '#000000',
  '#5254a3',
];
const GRID_LINES = 4;

export function drawCharts(samples: readonly SoakSample[], minutes: number): string {
  const panels = GROUPS.map(({ name, unit }, index) => {
    const x = (index % COLUMNS) * PANEL.width;
    const y = Math.floor(index / COLUMNS) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${drawPanel(samples, { name, unit, minutes })}</g>`;
  });
  const width = COLUMNS * PANEL.width;
  const height = Math.ceil(GROUPS.length / COLUMNS) * PANEL.height;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n' +
    `${panels.join('\n')}\n</svg>\n`
  );
}

function drawPanel(
  samples: readonly SoakSample[],
  { name, unit, minutes }: { name: string; unit: string; minutes: number },
): string {
  const series = [...new Set(samples.flatMap(({ values }) => Object.keys(values[name] ?? {})))].map((one) => ({
    name: one,
    points: pointsOf(samples, name, one),
  }));
  const greatest = roundUp(Math.max(0, ...series.flatMap(({ points }) => points.map(([, value]) => value))));
  const { left, top, width, height } = PLOT;
  const place = ([minute, value]: Point) =>
    `${(left + (width * minute) / minutes).toFixed(1)},${(top + height - (height * value) / greatest).toFixed(1)}`;
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, line) => {
    const y = top + height - (height * line) / GRID_LINES;
    return (
      `<path d="M${left} ${y}H${left + width}" stroke="#ddd"/>` +
      `<text x="${left - 6}" y="${y + 4}" text-anchor="end">${Number(((greatest * line) / GRID_LINES).toPrecision(3))}</text>`
    );
  });
  const lines = series.map(({ name: label, points }, index) => {
    const color = COLORS[index % COLORS.length];
    const y = top + 8 + index * 15;
    const x = left + width + 12;
    return (
      `<polyline fill="none" stroke="${color}" stroke-width="1.3" points="${points.map(place).join(' ')}"/>` +
      `<path d="M${x} ${y - 4}h12" stroke="${color}" stroke-width="3"/><text x="${x + 16}" y="${y}">${escapeXml(label)}</text>`
    );
  });
  return (
    `<text x="${left}" y="20" font-size="13" font-weight="bold">${escapeXml(unit ? `${name} (${unit})` : name)}</text>` +
    grid.join('') +
    `<text x="${left}" y="${top + height + 16}">0</text>` +
    `<text x="${left + width}" y="${top + height + 16}" text-anchor="end">${Number(minutes.toFixed(1))} min</text>` +
    lines.join('')
  );
}

/** To one, two or five times a power of ten. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
