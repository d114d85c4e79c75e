/** A report → a page that stands alone: no script, and nothing that it would have to fetch. Pure. */
import {
  amountOf,
  CHART,
  COLOURS,
  drawBars,
  noteOn,
  type Report,
  type Section,
  type Table,
  type Waterfall,
} from './price-report.ts';

const STYLE = `body{font:15px/1.45 Helvetica,Arial,sans-serif;color:#1c1c1c;max-width:44rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .4rem}h2{font-size:1.05rem;border-bottom:1px solid ${COLOURS.line};padding-bottom:.2rem;margin:2rem 0 .6rem}
p{margin:.1rem 0}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}
.amount{text-align:right;white-space:nowrap}td{white-space:pre-wrap}.total{font-weight:bold}.note{color:${COLOURS.note};font-size:.85rem}svg{width:100%;height:auto}
@media print{body{margin:0}}`;

export function renderHtml({ title, lines, sections }: Report): string {
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    ...lines.map((line) => `<p>${escaped(line)}</p>`),
    ...sections.map(sectionOf),
    '</body></html>',
    '',
  ].join('\n');
}

function sectionOf(section: Section): string {
  const body = section.kind === 'table' ? tableOf(section.table) : chartOf(section.title, section.bars);
  return `<section><h2>${escaped(section.title)}</h2>\n${body}</section>`;
}

function tableOf({ head, rows, amounts, hasTotal }: Table): string {
  const cells = (values: readonly string[], tag: 'th' | 'td') =>
    values
      .map((value, at) => `<${tag}${amounts.includes(at) ? ' class="amount"' : ''}>${escaped(value)}</${tag}>`)
      .join('');
  const body = rows.map(
    (row, at) => `<tr${hasTotal && at === rows.length - 1 ? ' class="total"' : ''}>${cells(row, 'td')}</tr>`,
  );
  return `<table><thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>${body.join('\n')}</tbody></table>`;
}

function chartOf(title: string, chart: Waterfall): string {
  const height = chart.bars.length * CHART.lineHeight;
  const note = noteOn(chart);
  const bars = drawBars(chart).map(({ label, x, y, width, ...bar }) => {
    const weight = bar.kind === 'total' ? ' font-weight="bold"' : '';
    const text = (at: number, anchor: string, content: string) =>
      `<text x="${at}" y="${y + CHART.textHeight - 4}" text-anchor="${anchor}"${weight}>${escaped(content)}</text>`;
    return [
      text(0, 'start', label),
      `<rect x="${x.toFixed(2)}" y="${y + CHART.textHeight}" width="${width.toFixed(2)}" height="${CHART.barHeight}" fill="${COLOURS[bar.kind]}"/>`,
      text(CHART.width, 'end', amountOf({ label, ...bar }, chart.currency)),
    ].join('');
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CHART.width} ${height}" font-size="9.5" role="img" ` +
    `aria-label="${escaped(title)}">\n${bars.join('\n')}</svg>${note === null ? '' : `<p class="note">${escaped(note)}</p>`}`
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
