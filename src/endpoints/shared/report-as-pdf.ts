/** A report → PDF. Equal input gives equal bytes. */
import PDFDocument from 'pdfkit';
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
import { BOLD, drawable, fontFor, PLAIN } from './report-fonts.ts';

const MARGINS = { top: 48, bottom: 42, left: 42, right: 42 };
const TEXT_SIZE = 9.5;
const CELL = { border: 0 as const, padding: { top: 3, bottom: 3, left: 0, right: 8 } };
/** What a section needs at least below its title, in points. */
const LEAST_HEIGHT = 90;
const TITLE_HEIGHT = 44;

type Pdf = PDFKit.PDFDocument;

export async function renderPdf(report: Report, createdAt: Date): Promise<Buffer> {
  // Stays at PDF 1.3, the default: the library adds XMP to later versions, and no artefact may carry that.
  const pdf = new PDFDocument({
    size: 'A4',
    margins: MARGINS,
    info: { Title: report.title, CreationDate: createdAt },
  });
  pdf.font(BOLD, 20).text(report.title).moveDown(0.3);
  for (const line of report.lines) write(pdf, line).text(drawable(line));
  for (const section of report.sections) draw(pdf, section);
  pdf.end();
  return Buffer.concat((await pdf.toArray()) as Buffer[]);
}

const write = (pdf: Pdf, text: string, font = PLAIN) => pdf.font(fontFor(drawable(text), font), TEXT_SIZE);

function draw(pdf: Pdf, section: Section): void {
  const height =
    section.kind === 'waterfall' ? (section.bars.bars.length + 1) * CHART.lineHeight : LEAST_HEIGHT - TITLE_HEIGHT;
  if (pdf.y + TITLE_HEIGHT + height > pdf.page.maxY()) pdf.addPage();
  pdf.font(BOLD, 12).text(drawable(section.title), MARGINS.left, pdf.y + 18);
  const y = pdf.y + 3;
  pdf
    .moveTo(MARGINS.left, y)
    .lineTo(pdf.page.width - MARGINS.right, y)
    .stroke(COLOURS.line);
  pdf.y = y + 6;
  if (section.kind === 'table') drawTable(pdf, section.table);
  else drawWaterfall(pdf, section.bars);
}

function drawTable(pdf: Pdf, { head, rows, widths, amounts, hasTotal }: Table): void {
  pdf.fontSize(TEXT_SIZE);
  const cell = (isBold: boolean) => (value: string, column: number) => {
    const text = drawable(value);
    return {
      text,
      font: { src: fontFor(text, isBold ? BOLD : PLAIN) },
      align: { x: amounts.includes(column) ? ('right' as const) : ('left' as const) },
    };
  };
  pdf.table({
    data: [head.map(cell(true)), ...rows.map((row, at) => row.map(cell(hasTotal && at === rows.length - 1)))],
    defaultStyle: CELL,
    columnStyles: widths.map((share) => ({ width: share * CHART.width })),
  });
}

function drawWaterfall(pdf: Pdf, chart: Waterfall): void {
  const top = pdf.y;
  for (const { label, x, y, width, ...bar } of drawBars(chart)) {
    const [left, line] = [MARGINS.left, top + y];
    const isTotal = bar.kind === 'total';
    const font = isTotal ? BOLD : PLAIN;
    const options = { lineBreak: false, ellipsis: true, height: CHART.textHeight };
    write(pdf, label, font)
      .fillColor('black')
      .text(drawable(label), left, line + 1, { ...options, width: CHART.width - CHART.amountWidth - 8 });
    pdf.rect(left + x, line + CHART.textHeight, width, CHART.barHeight).fill(COLOURS[bar.kind]);
    const amount = amountOf({ label, ...bar }, chart.currency);
    write(pdf, amount, font)
      .fillColor('black')
      .text(amount, left + CHART.width - CHART.amountWidth, line + 1, {
        ...options,
        width: CHART.amountWidth,
        align: 'right',
      });
  }
  pdf.x = MARGINS.left;
  pdf.y = top + chart.bars.length * CHART.lineHeight;
  const note = noteOn(chart);
  if (note) write(pdf, note).fillColor(COLOURS.note).text(note).fillColor('black');
}
