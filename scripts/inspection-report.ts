/** Sets the reports of an inspection's fixtures as PDF, one page each. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Result } from '../src/endpoints/inspections/result.ts';

const PAGE = { width: 595, height: 842 };
const MARGIN = 42;
const PICTURE = { width: 246, height: 164 };

const words = (name: string) => name.replaceAll('_', ' ');

/** Each scenario with the report that its result shows. */
const REPORTS = {
  default: 'report.pdf',
  partial_inspection: 'report-without-estimate.pdf',
  undamaged: 'report-undamaged.pdf',
};

/** The results of the folder with its example pictures → the reports. */
export async function writeInspectionReports(folder: string): Promise<void> {
  const pictures = await Promise.all(
    ['example.jpg', 'example-2.jpg', 'example-3.jpg', 'example-4.jpg'].map((file) =>
      sharp(join(folder, file)).resize(300, 200).jpeg({ quality: 60, mozjpeg: true }).toBuffer(),
    ),
  );
  for (const [scenario, file] of Object.entries(REPORTS)) {
    const result = JSON.parse(await readFile(join(folder, `${scenario}.json`), 'utf8')) as Result;
    await writeFile(join(folder, file), pdf(contentOf(result), pictures));
  }
}

function contentOf({ overall, views, parts, repair_estimate: estimate }: Result): string {
  let y = PAGE.height - 60;
  const lines: string[] = [];
  const text = (x: number, size: number, content: string, font = 'F1') =>
    lines.push(`BT /${font} ${size} Tf ${x} ${y} Td (${content.replaceAll(/[()\\]/g, '\\$&')}) Tj ET`);
  const rule = () => lines.push(`0.75 G ${MARGIN} ${y - 6} m ${PAGE.width - MARGIN} ${y - 6} l S`);
  const money = (amount: number) => `${(amount / 100).toFixed(2)} ${estimate?.currency ?? ''}`;

  text(MARGIN, 20, 'Vehicle inspection', 'F2');
  y -= 20;
  text(MARGIN, 10, `Condition ${overall?.condition_grade.value ?? '-'}. Example of test mode; no real vehicle.`);
  y -= 10;
  for (const [index, { view }] of views.entries()) {
    const x = MARGIN + (index % 2) * (PICTURE.width + 19);
    const bottom = y - (Math.floor(index / 2) + 1) * (PICTURE.height + 22);
    lines.push(`q ${PICTURE.width} 0 0 ${PICTURE.height} ${x} ${bottom + 14} cm /I${index} Do Q`);
    lines.push(`BT /F1 9 Tf ${x} ${bottom + 3} Td (${words(view?.value ?? 'unknown')}) Tj ET`);
  }
  y -= 2 * (PICTURE.height + 22) + 26;

  text(MARGIN, 12, 'Damages', 'F2');
  rule();
  for (const { part, side, damages } of parts) {
    for (const { type, severity, repair_method, views: seen } of damages) {
      y -= 20;
      text(MARGIN, 10, `${side === 'none' || side === null ? '' : `${side} `}${words(part)}`);
      text(190, 10, `${words(type)}, ${severity.value}`);
      text(320, 10, words(repair_method.value));
      text(450, 10, `seen on ${seen.map((index) => index + 1).join(', ')}`);
    }
  }
  if (parts.every(({ damages }) => damages.length === 0)) {
    y -= 20;
    text(MARGIN, 10, `None, on ${parts.length} parts that were examined.`);
  }
  if (estimate) {
    y -= 34;
    text(MARGIN, 12, 'Repair estimate', 'F2');
    rule();
    const { labour, paint, paint_materials, parts: spare, net, tax, tax_rate_percent, gross } = estimate.totals;
    const rows = { labour, paint, 'paint materials': paint_materials, parts: spare, net };
    for (const [name, amount] of Object.entries({ ...rows, [`tax ${tax_rate_percent} %`]: tax, gross })) {
      y -= 17;
      text(MARGIN, 10, name, name === 'gross' ? 'F2' : 'F1');
      text(320, 10, money(amount), name === 'gross' ? 'F2' : 'F1');
    }
  }
  return lines.join('\n');
}

/** One page with a stream of content, the fonts F1 and F2, and the JPEGs I0, I1 and so on. */
function pdf(content: string, pictures: readonly Buffer[]): Buffer {
  const stream = (dictionary: string, bytes: Buffer) =>
    Buffer.concat([
      Buffer.from(`<<${dictionary}/Length ${bytes.length}>>\nstream\n`),
      bytes,
      Buffer.from('\nendstream'),
    ]);
  const font = (name: string) => Buffer.from(`<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`);
  const images = pictures.map((_, index) => `/I${index} ${7 + index} 0 R`).join('');
  const objects = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from('<</Type/Pages/Kids[3 0 R]/Count 1>>'),
    Buffer.from(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${PAGE.width} ${PAGE.height}]/Contents 4 0 R` +
        `/Resources<</Font<</F1 5 0 R/F2 6 0 R>>/XObject<<${images}>>>>>>`,
    ),
    stream('', Buffer.from(content, 'latin1')),
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...pictures.map((bytes) =>
      stream(
        '/Type/XObject/Subtype/Image/Width 300/Height 200/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode',
        bytes,
      ),
    ),
  ];
  const chunks = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  const length = () => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  for (const [index, object] of objects.entries()) {
    offsets.push(length());
    chunks.push(Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'));
  }
  const start = length();
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const head = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const tail = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.concat([...chunks, Buffer.from(head + tail)]);
}
