/** Writes the PDF reports of the inspection fixtures. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { layOutReport } from '../src/endpoints/inspections/report/lay-out.ts';
import type { Result } from '../src/endpoints/inspections/result.ts';

/** The report file of each scenario. */
const REPORTS = {
  default: 'report.pdf',
  partial_inspection: 'report-without-estimate.pdf',
  undamaged: 'report-undamaged.pdf',
};

/** Fixed, so that the same pictures and results give the same files. */
const CREATED_AT = new Date('2026-11-22T00:00:00Z');

/** In pixels. */
const SIZE = { width: 300, height: 200 };

const previewOf = (jpeg: Buffer | undefined) => (jpeg ? { jpeg, ...SIZE } : null);

/** Renders the reports from the fixture results and example pictures of a folder. */
export async function writeInspectionReports(folder: string): Promise<void> {
  const pictures = await Promise.all(
    ['example.jpg', 'example-2.jpg', 'example-3.jpg', 'example-4.jpg'].map((file) =>
      sharp(join(folder, file)).resize(SIZE).jpeg({ quality: 60, mozjpeg: true }).toBuffer(),
    ),
  );
  for (const [scenario, file] of Object.entries(REPORTS)) {
    const result = JSON.parse(await readFile(join(folder, `${scenario}.json`), 'utf8')) as Result;
    const { overall, parts, repair_estimate: repairEstimate, views, missing_views: missingViews } = result;
    const report = await layOutReport({
      overall,
      parts,
      repairEstimate,
      vehicle: '',
      views: views.map(({ view, is_usable: isUsable }, index) => ({
        view,
        isUsable,
        picture: previewOf(pictures[index]),
      })),
      totalViews: views.length,
      usableViews: views.filter((view) => view.is_usable).length,
      missingViews,
      jobId: null,
      note: 'Example of test mode; no real vehicle.',
      createdAt: CREATED_AT,
    });
    await writeFile(join(folder, file), report);
  }
}
