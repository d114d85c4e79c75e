import type { JobInput } from '../../../contracts/job.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../contracts/media-limits.ts';
import type { BundleTools } from '../../../inference/bundles/bundle-definition.ts';
import type { Parameters } from '../request.ts';
import type { Result } from '../result.ts';
import { layOutReport } from './lay-out.ts';

interface Inspected {
  overall: Result['overall'];
  parts: Result['parts'];
  repairEstimate: Result['repair_estimate'];
  views: readonly { view: Result['views'][number]['view']; picture: JobInput }[];
  parameters: Readonly<Record<string, unknown>>;
}

/** Views that are shown with their picture: the report of 200 stays a few pages long. */
const MOST_PICTURES = 12;
/** Twice the points that a picture takes on its page. */
const PREVIEW = { width: 492, height: 328 };

/** Makes the report and stores it. */
export async function makeReport(inspected: Inspected, tools: BundleTools): Promise<Result['report']> {
  const { overall, parts, repairEstimate, views, parameters } = inspected;
  const shown = views.slice(0, MOST_PICTURES);
  const previews = await tools.makePreviews(
    shown.map(({ picture }) => picture),
    PREVIEW,
  );
  const { vehicle } = parameters as Parameters;
  const content = await layOutReport({
    overall,
    parts,
    repairEstimate,
    vehicle: [vehicle?.make, vehicle?.model].filter(Boolean).join(' '),
    views: shown.map(({ view }, index) => ({ view, picture: previews[index]?.jpeg ?? null })),
    totalViews: views.length,
    createdAt: new Date(),
  });
  return tools.writeArtefact({
    content,
    mediaType: ARTEFACT_MEDIA_TYPES.pdf ?? '',
    extension: 'pdf',
    width: null,
    height: null,
  });
}
