import type { JobInput } from '../../../contracts/job.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../contracts/media-limits.ts';
import type { BundleTools } from '../../../inference/bundles/bundle-definition.ts';
import type { Parameters } from '../request.ts';
import type { Result } from '../result.ts';
import { type DamageOutline, type Inspection, layOutReport } from './lay-out.ts';

type Findings = Result['views'][number]['findings'];

interface Inspected
  extends Pick<Inspection, 'overall' | 'parts' | 'repairEstimate' | 'missingViews' | 'estimateOmitted'> {
  views: readonly {
    view: Result['views'][number]['view'];
    isUsable: boolean;
    picture: JobInput;
    findings: Findings;
  }[];
  parameters: Readonly<Record<string, unknown>>;
}

/** Views that are shown with their picture: the report of 200 stays a few pages long. */
const MOST_PICTURES = 12;
/** Twice the points that a picture takes on its page. */
const PREVIEW = { width: 492, height: 328 };

/** Makes the report and stores it. */
export async function makeReport(inspected: Inspected, tools: BundleTools): Promise<Result['report']> {
  const { views, parameters, ...rest } = inspected;
  const shown = views.slice(0, MOST_PICTURES);
  const previews = await tools.makePreviews(
    shown.map(({ picture }) => picture),
    PREVIEW,
  );
  const { vehicle } = parameters as Parameters;
  const content = await layOutReport({
    ...rest,
    vehicle: [[vehicle?.make, vehicle?.model, vehicle?.year].filter(Boolean).join(' '), vehicle?.vin]
      .filter(Boolean)
      .join(', '),
    views: shown.map(({ view, isUsable, findings }, index) => {
      const preview = previews[index];
      if (!preview) return { view, isUsable, picture: null };
      return { view, isUsable, picture: preview, outlines: findings.map((one) => outlineOf(one, preview.picture)) };
    }),
    totalViews: views.length,
    usableViews: views.filter(({ isUsable }) => isUsable).length,
    jobId: tools.jobId,
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

function outlineOf({ damage_id: damageId, polygon, bbox }: Findings[number], { width, height }: Size): DamageOutline {
  const { x, y } = bbox;
  const corners = [
    { x, y },
    { x: x + bbox.width, y },
    { x: x + bbox.width, y: y + bbox.height },
    { x, y: y + bbox.height },
  ];
  const outline = polygon && polygon.length > 2 ? polygon : corners;
  return { damageId, points: outline.map((point) => ({ x: point.x / width, y: point.y / height })) };
}

interface Size {
  width: number;
  height: number;
}
