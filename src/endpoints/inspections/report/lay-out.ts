/**
 * An inspection → its report as PDF: the views with the outlines of their damages, the views that are missing, the damages
 * with their repair, the estimate. Equal input gives equal bytes.
 */
import PDFDocument from 'pdfkit';
import { BOLD, drawable, fontFor, PLAIN } from '../../shared/report-fonts.ts';
import type { Result } from '../result.ts';

export interface Inspection {
  overall: Result['overall'];
  parts: Result['parts'];
  repairEstimate: Result['repair_estimate'];
  /** Such as `Talvera Lumo`; empty where the request does not say. */
  vehicle: string;
  /** Each with its picture as JPEG, and the outlines of its damages. */
  views: readonly {
    view: Result['views'][number]['view'];
    /** Whether it counts as a view. */
    isUsable: boolean;
    picture: Picture | null;
    outlines?: readonly DamageOutline[];
  }[];
  /** Number of all pictures; `views` holds the first of them. */
  totalViews: number;
  /** How many of all count as views. */
  usableViews: number;
  missingViews: Result['missing_views'];
  /** Why there is no estimate; null if there is one. */
  estimateOmitted?: Result['repair_estimate_omitted'];
  /** Null in examples. */
  jobId: string | null;
  /** A line below the title. */
  note?: string;
  createdAt: Date;
}

interface Picture {
  jpeg: Uint8Array;
  width: number;
  height: number;
}

export interface DamageOutline {
  damageId: string;
  /** A closed polygon, in shares of the width and height of the picture. */
  points: readonly { x: number; y: number }[];
}

const MARGINS = { top: 48, bottom: 42, left: 42, right: 42 };
const PICTURE = { width: 246, height: 164 };
const GAP = 19;
const CAPTION_HEIGHT = 22;
const TEXT_SIZE = 10;
const CAPTION_SIZE = 9;
const FOOTER_SIZE = 8;
const GREY = '#5a5a5a';
/** Seen on any paint. */
const OUTLINE = { colour: '#e0261b', halo: '#ffffff' };
const TITLE = 'Vehicle inspection';

const words = (name: string) => name.replaceAll('_', ' ');

export async function layOutReport(inspection: Inspection): Promise<Buffer> {
  // Stays at PDF 1.3, the default: the library adds XMP to later versions, and no artefact may carry that.
  const report = new PDFDocument({
    size: 'A4',
    margins: MARGINS,
    // Page numbers are written once their sum is known.
    bufferPages: true,
    info: { Title: TITLE, CreationDate: inspection.createdAt },
  });
  writeTitle(report, inspection);
  showViews(report, inspection);
  listDamages(report, inspection.parts);
  if (inspection.repairEstimate) addUp(report, inspection.repairEstimate);
  else if (inspection.estimateOmitted) explainOmission(report, inspection.estimateOmitted);
  numberPages(report, inspection);
  report.end();
  return Buffer.concat((await report.toArray()) as Buffer[]);
}

type Report = PDFKit.PDFDocument;

function writeTitle(report: Report, { overall, vehicle, note, jobId, createdAt, ...rest }: Inspection): void {
  report.font(BOLD, 20).text(TITLE).moveDown(0.3);
  const drivable = overall?.drivable.value ? 'can be driven' : 'is not to be driven';
  const line = [drawable(vehicle), overall && `Condition ${overall.condition_grade.value}, ${drivable}`, note];
  const text = line.filter(Boolean).join('. ');
  report.font(fontFor(text), TEXT_SIZE).text(text);
  const made = `${jobId === null ? '' : `Job ${jobId}, `}${timeOf(createdAt)}`;
  report.font(PLAIN, TEXT_SIZE).text(`${made.charAt(0).toUpperCase()}${made.slice(1)}.`);
  const { missingViews, totalViews, usableViews } = rest;
  const missing =
    missingViews.length > 0 ? `Missing views: ${missingViews.map(words).join(', ')}.` : 'No view is missing.';
  const pictures = `${totalViews} ${totalViews === 1 ? 'picture' : 'pictures'}`;
  report.text(`${pictures}, ${usableViews} of them counted as ${usableViews === 1 ? 'a view' : 'views'}. ${missing}`);
}

/** Such as `2026-11-23 18:05 UTC`. */
const timeOf = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The title at the top of every page but the first, and job, time and number at the bottom of each. */
function numberPages(report: Report, { jobId, createdAt }: Inspection): void {
  const { start, count } = report.bufferedPageRange();
  const width = report.page.width - MARGINS.left - MARGINS.right;
  const line = (text: string, y: number, align: 'left' | 'right') =>
    report.text(text, MARGINS.left, y, { width, align, lineBreak: false });
  const about = [jobId, timeOf(createdAt)].filter(Boolean).join(', ');
  for (let index = start; index < start + count; index += 1) {
    report.switchToPage(index);
    // Below the margin a line would begin a page of its own.
    report.page.margins.bottom = 0;
    report.font(PLAIN, FOOTER_SIZE).fillColor(GREY);
    if (index > start) line(TITLE, MARGINS.top / 2, 'left');
    line(about, report.page.height - MARGINS.bottom / 2 - FOOTER_SIZE, 'left');
    line(`Page ${index - start + 1} of ${count}`, report.page.height - MARGINS.bottom / 2 - FOOTER_SIZE, 'right');
  }
}

/** Two in a row. */
function showViews(report: Report, { views, totalViews }: Inspection): void {
  report.font(PLAIN, CAPTION_SIZE).moveDown();
  for (let index = 0; index < views.length; index += 2) {
    makeRoom(report, PICTURE.height + CAPTION_HEIGHT);
    const { y } = report;
    for (const [column, { view, isUsable, picture, outlines = [] }] of views.slice(index, index + 2).entries()) {
      const x = MARGINS.left + column * (PICTURE.width + GAP);
      if (picture) drawOutlines(report, outlines, placePicture(report, picture, { x, y }));
      report
        .font(PLAIN, CAPTION_SIZE)
        .fillColor('black')
        .text(`${index + column + 1}  ${captionOf(view, isUsable)}`, x, y + PICTURE.height + 4);
    }
    report.x = MARGINS.left;
    report.y = y + PICTURE.height + CAPTION_HEIGHT;
  }
  if (totalViews > views.length) report.text(`and ${totalViews - views.length} more`);
}

function captionOf(view: Result['views'][number]['view'], isUsable: boolean): string {
  return `${words(view?.value ?? 'unknown')}${isUsable ? '' : ', not counted as a view'}`;
}

interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Draws the picture in the middle of its box, as large as fits. Returns where it lies, in points. */
function placePicture(report: Report, picture: Picture, { x, y }: Pick<Place, 'x' | 'y'>): Place {
  const scale = Math.min(PICTURE.width / picture.width, PICTURE.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const place = { x: x + (PICTURE.width - width) / 2, y: y + (PICTURE.height - height) / 2, width, height };
  report.image(Buffer.from(picture.jpeg), place.x, place.y, { width, height });
  return place;
}

/** Each with the number that the list of damages has for it. */
function drawOutlines(report: Report, outlines: readonly DamageOutline[], { x, y, width, height }: Place): void {
  for (const { damageId, points } of outlines) {
    const corners = points.map((point): [number, number] => [x + point.x * width, y + point.y * height]);
    const [first] = corners.toSorted((a, b) => a[1] - b[1]);
    if (!first) continue;
    report
      .lineWidth(2)
      .polygon(...corners)
      .stroke(OUTLINE.halo);
    report
      .lineWidth(1)
      .polygon(...corners)
      .stroke(OUTLINE.colour);
    const label = numberOf(damageId);
    report.font(BOLD, CAPTION_SIZE);
    const room = report.widthOfString(label) + 4;
    const left = Math.min(Math.max(x, first[0] - room / 2), x + width - room);
    const top = Math.max(y, first[1] - CAPTION_SIZE - 3);
    report.rect(left, top, room, CAPTION_SIZE + 2).fill(OUTLINE.colour);
    report.fillColor('white').text(label, left + 2, top + 2, { lineBreak: false });
  }
}

/** `damage_3` is number 3. */
const numberOf = (damageId: string) => damageId.replace(/^damage_/, '');

function listDamages(report: Report, parts: Result['parts']): void {
  beginSection(report, 'Damages', 90);
  const rows = parts.flatMap(({ part, side, damages }) =>
    damages.map(({ id, type, severity, repair_method, is_new, views }) => [
      numberOf(id),
      `${side === 'none' || side === null ? '' : `${side} `}${words(part ?? 'unknown part')}`,
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
      columnStyles: [{ width: 26 }, { width: 136 }, { width: 124 }, { width: 124 }, {}],
    });
  }
}

function addUp(report: Report, { totals, currency, not_priced }: NonNullable<Result['repair_estimate']>): void {
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
  const left = not_priced.map(({ damage_id, reason }) => `${numberOf(damage_id)} (${words(reason)})`);
  if (left.length > 0) report.text(`Not priced: ${left.join(', ')}.`, MARGINS.left);
}

const OMISSIONS: Readonly<Record<NonNullable<Result['repair_estimate_omitted']>, string>> = {
  not_requested: 'It was not requested.',
  nothing_to_repair: 'There is nothing to repair.',
  no_price_book: 'No price book of repairs is active that could answer the request.',
  failed: 'It failed; the job says why.',
};

function explainOmission(report: Report, reason: keyof typeof OMISSIONS): void {
  beginSection(report, 'Repair estimate', 60);
  report.text(`Left out. ${OMISSIONS[reason]}`);
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
