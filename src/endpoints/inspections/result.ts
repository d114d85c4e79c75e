import { Type } from 'typebox';
import {
  damagedPart,
  damageId,
  damageSize,
  damageType,
  REPAIR_METHODS,
  SEVERITIES,
} from '../../contracts/vocabulary/damages.ts';
import { partName, side } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues, VIEWS, view } from '../../contracts/vocabulary/pictures.ts';
import { CONDITION_GRADES } from '../../contracts/vocabulary/pricing.ts';
import { repairEstimate } from '../../contracts/vocabulary/repairs.ts';
import {
  artefact,
  boundingBox,
  classified,
  closed,
  confidence,
  imageIndex,
  nullable,
  polygon,
} from '../../contracts/vocabulary/schemas.ts';
import { timeOffsetMs } from '../../contracts/vocabulary/videos.ts';

const viewIndexes = Type.Array(Type.Integer({ minimum: 0 }), {
  minItems: 1,
  description: 'The views that show it, as indexes in `views`.',
});

const finding = closed({
  damage_id: { ...damageId, description: 'The damage in `parts` that this finding belongs to.' },
  type: damageType,
  part: damagedPart,
  side,
  confidence,
  bbox: boundingBox,
  polygon,
});

const seenView = closed({
  image_index: { ...imageIndex, description: 'Index of the picture or video in the request, from 0.' },
  time_offset_ms: nullable({
    ...timeOffsetMs,
    description: 'Milliseconds from the start of the video; null for a picture.',
  }),
  frame: nullable({ ...artefact, description: 'The frame of the video; null for a picture.' }),
  view,
  is_usable: Type.Boolean({
    description:
      'Whether it counts as a view. If not, `view` is null, or `quality_issues` says why. Its damages count all the ' +
      'same: a close-up shows no view.',
  }),
  quality_issues: qualityIssues,
  findings: Type.Array(finding, { description: 'The damages visible in this view, most confident first.' }),
});

const damage = closed({
  id: damageId,
  type: damageType,
  confidence,
  severity: classified(SEVERITIES),
  repair_method: classified(REPAIR_METHODS),
  size: nullable(damageSize),
  is_new: nullable(
    Type.Boolean({
      description: 'True if the baseline inspection did not list it; null without a baseline or on no known part.',
    }),
  ),
  views: viewIndexes,
});

const inspectedPart = closed({
  part: nullable({ ...partName, description: 'Null for the damages on no known part.' }),
  side,
  confidence,
  views: viewIndexes,
  worst_severity: nullable(
    Type.Enum(SEVERITIES, { description: 'The worst severity among its damages; null without damages.' }),
  ),
  damages: Type.Array(damage, {
    description: 'Each damage once, however many views show it; worst first. On no known part, once for each view.',
  }),
});

const overall = closed({
  condition_grade: classified(CONDITION_GRADES),
  drivable: closed(
    { value: Type.Boolean(), confidence },
    'Whether the vehicle can be driven, judging by the pictures.',
  ),
});

/** Why an inspection has no repair estimate. */
const ESTIMATE_OMISSIONS = ['not_requested', 'nothing_to_repair', 'no_price_book', 'failed'] as const;

export const result = closed({
  overall: nullable({ ...overall, description: 'Null if no view of a vehicle and no damage was found.' }),
  views: Type.Array(seenView, {
    description: 'Every picture of the request and every key frame of its videos, with what each shows.',
  }),
  missing_views: Type.Array(Type.Enum(VIEWS), { description: 'Expected views that no usable picture shows.' }),
  parts: Type.Array(inspectedPart, {
    description: 'Every part that was examined, damaged parts first. Parts not listed were not visible.',
  }),
  repair_estimate: nullable({
    ...repairEstimate,
    description: '`repair_estimate_omitted` says why it is null.',
  }),
  repair_estimate_omitted: Type.Optional(
    nullable(
      Type.Enum(ESTIMATE_OMISSIONS, {
        description:
          'Why there is no repair estimate; null if there is one. `no_price_book`: in live mode the operator has no price ' +
          'book of repairs that could answer the request.',
      }),
    ),
  ),
  report: nullable({
    ...artefact,
    description: 'PDF. Null with `include_report: false`, without a vehicle, or if its stage failed.',
  }),
});

export type Result = Type.Static<typeof result>;
