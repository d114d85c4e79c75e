/** An inspection → its report as PDF: the views, the damages with their repair, the estimate. Equal input gives equal bytes. */
import { createRequire } from 'node:module';
import PDFDocument from 'pdfkit';
import type { Result } from '../result.ts';

export interface Inspection {
  overall: Result['overall'];
  parts: Result['parts'];
  repairEstimate: Result['repair_estimate'];
  /** Such as `Talvera Lumo`; empty where the request does not say. */
  vehicle: string;
  /** Each with its picture as JPEG. */
  views: readonly { view: Result['views'][number]['view']; picture: Uint8Array | null }[];
  /** Number of all views; `views` holds the first of them. */
  totalViews: number;
  /** A line below the title. */
  note?: string;
  createdAt: Date;
}

const PLAIN = 'Helvetica';
const BOLD = 'Helvetica-Bold';
/** As wide as Helvetica, with more scripts. Embedded where needed only: every reader of PDF brings Helvetica along. */
const WIDE = createRequire(import.meta.url).resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf');
/** Helvetica has these, in the encoding WinAnsi. */
const IN_PLAIN = /^[\x20-\x7e\xa0-\xffŠšŽžŒœŸ€–—‘’“”„…]*$/;
/** Both fonts lack these, or they run from right to left. */
const UNDRAWN = /[^\x20-\x7e\xa0-\xff\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}€–—‘’“”„…]/gu;

const MARGINS = { top: 48, bottom: 42, left: 42, right: 42 };
const PICTURE = { width: 246, height: 164 };
const GAP = 19;
const CAPTION_HEIGHT = 22;
const TEXT_SIZE = 10;
const CAPTION_SIZE = 9;

const words = (name: string) => name.replaceAll('_', ' ');

export async function layOutReport(inspection: Inspection): Promise<Buffer> {
  // Stays at PDF 1.3, the default: the library adds XMP to later versions, and no artefact may carry that.
  const report = new PDFDocument({
    size: 'A4',
    margins: MARGINS,
    info: { Title: 'Vehicle inspection', CreationDate: inspection.createdAt },
  });
  writeTitle(report, inspection);
  showViews(report, inspection);
  listDamages(report, inspection.parts);
  if (inspection.repairEstimate) addUp(report, inspection.repairEstimate);
  report.end();
  return Buffer.concat((await report.toArray()) as Buffer[]);
}

type Report = PDFKit.PDFDocument;

function writeTitle(report: Report, { overall, vehicle, note }: Inspection): void {
  report.font(BOLD, 20).text('Vehicle inspection').moveDown(0.3);
  const drivable = overall?.drivable.value ? 'can be driven' : 'is not to be driven';
  const line = [
    vehicle.normalize().replace(UNDRAWN, '?'),
    overall && `Condition ${overall.condition_grade.value}, ${drivable}`,
    note,
  ];
  const text = line.filter(Boolean).join('. ');
  report.font(IN_PLAIN.test(text) ? PLAIN : WIDE, TEXT_SIZE).text(text);
}

/** Two in a row. */
function showViews(report: Report, { views, totalViews }: Inspection): void {
  report.font(PLAIN, CAPTION_SIZE).moveDown();
  for (let index = 0; index < views.length; index += 2) {
    makeRoom(report, PICTURE.height + CAPTION_HEIGHT);
    const { y } = report;
    for (const [column, { view, picture }] of views.slice(index, index + 2).entries()) {
      const x = MARGINS.left + column * (PICTURE.width + GAP);
      if (picture) {
        const box = [PICTURE.width, PICTURE.height] as [number, number];
        report.image(Buffer.from(picture), x, y, { fit: box, align: 'center', valign: 'center' });
      }
      report.text(`${index + column + 1}  ${words(view?.value ?? 'unknown')}`, x, y + PICTURE.height + 4);
    }
    report.x = MARGINS.left;
    report.y = y + PICTURE.height + CAPTION_HEIGHT;
  }
  if (totalViews > views.length) report.text(`and ${totalViews - views.length} more`);
}

function listDamages(report: Report, parts: Result['parts']): void {
  beginSection(report, 'Damages', 90);
  const rows = parts.flatMap(({ part, side, damages }) =>
    damages.map(({ type, severity, repair_method, is_new, views }) => [
      `${side === 'none' || side === null ? '' : `${side} `}${words(part)}`,
      `${is_new ? 'new ' : ''}${words(type)}, ${severity.value}`,
      words(repair_method.value),
      `seen on ${views.map((index) => index + 1).join(', ')}`,
    ]),
  );
  if (rows.length === 0) report.text(`None, on ${parts.length} parts that were examined.`);
  else {
    report.table({
      data: rows,
      defaultStyle: CELL,
      columnStyles: [{ width: 148 }, { width: 130 }, { width: 130 }, {}],
    });
  }
}

function addUp(report: Report, { totals, currency }: NonNullable<Result['repair_estimate']>): void {
  beginSection(report, 'Repair estimate', 200);
  const amounts: Readonly<Record<string, number>> = {
    labour: totals.labour,
    paint: totals.paint,
    'paint materials': totals.paint_materials,
    parts: totals.parts,
    net: totals.net,
    [`tax ${totals.tax_rate_percent} %`]: totals.tax,
    gross: totals.gross,
  };
  const rows = Object.entries(amounts).map(([name, amount]) => {
    const font = { src: name === 'gross' ? BOLD : PLAIN };
    return [
      { text: name, font },
      { text: money(amount, currency), font, align: { x: 'right' as const } },
    ];
  });
  report.table({ data: rows, defaultStyle: CELL, columnStyles: [{ width: 148 }, { width: 130 }] });
}

const CELL = { border: 0, padding: { top: 4, bottom: 4, left: 0, right: 8 } };

/** @param height that stays on one page, in points */
function beginSection(report: Report, title: string, height: number): void {
  makeRoom(report, height);
  report.font(BOLD, 12).text(title, MARGINS.left, report.y + 20);
  const y = report.y + 3;
  report
    .moveTo(MARGINS.left, y)
    .lineTo(report.page.width - MARGINS.right, y)
    .stroke('#bfbfbf');
  report.font(PLAIN, TEXT_SIZE);
  report.y = y + 6;
}

/** Starts a new page when the height, in points, does not fit. */
function makeRoom(report: Report, height: number): void {
  if (report.y + height > report.page.maxY()) report.addPage();
}

/** From minor units; their number depends on the currency. */
function money(amount: number, currency: string): string {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
}
