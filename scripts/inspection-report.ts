/** Sets the reports of an inspection's fixtures as PDF. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { layOutReport } from '../src/endpoints/inspections/report/lay-out.ts';
import type { Result } from '../src/endpoints/inspections/result.ts';

/** Each scenario with the report that its result shows. */
const REPORTS = {
  default: 'report.pdf',
  partial_inspection: 'report-without-estimate.pdf',
  undamaged: 'report-undamaged.pdf',
};

/** The results of the folder with its example pictures → the reports. */
export async function writeInspectionReports(folder: string): Promise<void> {
  const pictures = await Promise.all(
    ['example.jpg', 'example-2.jpg', 'example-3.jpg', 'example-4.jpg'].map(async (file) => {
      const picture = sharp(join(folder, file)).resize(300, 200).jpeg({ quality: 60, mozjpeg: true });
      return { jpeg: await picture.toBuffer(), width: 300, height: 200 };
    }),
  );
  for (const [scenario, file] of Object.entries(REPORTS)) {
    const result = JSON.parse(await readFile(join(folder, `${scenario}.json`), 'utf8')) as Result;
    const { overall, parts, repair_estimate: repairEstimate, views } = result;
    const report = layOutReport({
      overall,
      parts,
      repairEstimate,
      vehicle: '',
      views: views.map(({ view }, index) => ({ view, picture: pictures[index] ?? null })),
      totalViews: views.length,
      note: 'Example of test mode; no real vehicle.',
    });
    await writeFile(join(folder, file), report);
  }
}
