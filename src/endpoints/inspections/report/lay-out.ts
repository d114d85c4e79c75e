/** An inspection → its report: the views, the damages with their repair, the estimate. Pure. */
import type { Result } from '../result.ts';
import { createPdf, type Font, type Jpeg, PAGE } from './pdf.ts';

export interface Inspection {
  overall: Result['overall'];
  parts: Result['parts'];
  repairEstimate: Result['repair_estimate'];
  /** Such as `Talvera Lumo`; empty where the request does not say. */
  vehicle: string;
  views: readonly { view: Result['views'][number]['view']; picture: Jpeg | null }[];
  /** How many views there are, of which `views` shows the first. */
  totalViews: number;
  /** A line below the title. */
  note?: string;
}

const MARGIN = 42;
const RIGHT = PAGE.width - MARGIN;
const TOP = PAGE.height - 60;
const PICTURE = { width: 246, height: 164 };
const GAP = 19;
const CAPTION = 22;
/** Where the columns of damages and of amounts begin. */
const COLUMNS = [MARGIN, 190, 320, 450] as const;

const words = (name: string) => name.replaceAll('_', ' ');

export function layOutReport(inspection: Inspection): Buffer {
  const pdf = createPdf();
  let page = pdf.addPage();
  let y = TOP;
  /** Moves down, onto a new page where that much does not fit. */
  const down = (by: number, needed = 0) => {
    y -= by;
    if (y - needed >= MARGIN) return;
    page = pdf.addPage();
    y = TOP;
  };
  const row = (texts: readonly string[], { size = 10, font = 'plain' }: { size?: number; font?: Font } = {}) => {
    for (const [index, text] of texts.entries()) page.text(COLUMNS[index] ?? MARGIN, y, size, text, font);
  };
  const heading = (text: string) => {
    down(34, 60);
    row([text], { size: 12, font: 'bold' });
    page.line(MARGIN, RIGHT, y - 6);
  };

  const { overall, parts, repairEstimate, vehicle, views, totalViews, note } = inspection;
  row(['Vehicle inspection'], { size: 20, font: 'bold' });
  down(20);
  const drivable = overall?.drivable.value ? 'can be driven' : 'is not to be driven';
  row([
    [vehicle, overall && `Condition ${overall.condition_grade.value}, ${drivable}`, note].filter(Boolean).join('. '),
  ]);
  down(10);

  for (let index = 0; index < views.length; index += 2) {
    down(PICTURE.height + CAPTION);
    for (const [column, shown] of views.slice(index, index + 2).entries()) {
      const x = MARGIN + column * (PICTURE.width + GAP);
      if (shown.picture) page.picture(shown.picture, { x, y: y + 14, ...PICTURE });
      page.text(x, y + 3, 9, `${index + column + 1}  ${words(shown.view?.value ?? 'unknown')}`);
    }
  }
  if (totalViews > views.length) {
    down(14);
    row([`and ${totalViews - views.length} more`], { size: 9 });
  }

  heading('Damages');
  const damaged = parts.filter(({ damages }) => damages.length > 0);
  for (const { part, side, damages } of damaged) {
    for (const { type, severity, repair_method, is_new, views: seen } of damages) {
      down(20);
      row([
        `${side === 'none' || side === null ? '' : `${side} `}${words(part)}`,
        `${is_new ? 'new ' : ''}${words(type)}, ${severity.value}`,
        words(repair_method.value),
        `seen on ${seen.map((index) => index + 1).join(', ')}`,
      ]);
    }
  }
  if (damaged.length === 0) {
    down(20);
    row([`None, on ${parts.length} parts that were examined.`]);
  }

  if (repairEstimate) {
    heading('Repair estimate');
    const { totals, currency } = repairEstimate;
    const amounts: Readonly<Record<string, number>> = {
      labour: totals.labour,
      paint: totals.paint,
      'paint materials': totals.paint_materials,
      parts: totals.parts,
      net: totals.net,
      [`tax ${totals.tax_rate_percent} %`]: totals.tax,
      gross: totals.gross,
    };
    for (const [name, amount] of Object.entries(amounts)) {
      down(17);
      row([name, '', money(amount, currency)], { font: name === 'gross' ? 'bold' : 'plain' });
    }
  }
  return pdf.finish();
}

/** From minor units, of which currencies have different numbers. */
function money(amount: number, currency: string): string {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
}
