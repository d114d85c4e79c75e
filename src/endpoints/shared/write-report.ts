/** Stores a report as PDF and as a page. */
import type { Artefact, WriteArtefact } from '../../artefacts/artefact-writer.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import type { Report } from './price-report.ts';
import { renderHtml } from './report-as-page.ts';
import { renderPdf } from './report-as-pdf.ts';

export async function writeReport(
  report: Report,
  write: WriteArtefact,
  createdAt = new Date(),
): Promise<{ pdf: Artefact; html: Artefact }> {
  const store = (content: Uint8Array, extension: 'pdf' | 'html') =>
    write({ content, extension, mediaType: ARTEFACT_MEDIA_TYPES[extension] ?? '', width: null, height: null });
  return {
    pdf: await store(await renderPdf(report, createdAt), 'pdf'),
    html: await store(Buffer.from(renderHtml(report)), 'html'),
  };
}
