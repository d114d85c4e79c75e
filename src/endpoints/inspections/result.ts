import { Type } from 'typebox';
import { damagedPart, damageId, damageSize, damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { partName, side } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/picture-schemas.ts';
import { CONDITION_GRADES } from '../../contracts/vocabulary/pricing.ts';
import { repairEstimate } from '../../contracts/vocabulary/repair-schemas.ts';
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
import { VIEWS } from '../../contracts/vocabulary/views.ts';

const viewIndexes = Type.Array(Type.Integer({ minimum: 0 }), {
  minItems: 1,
  description: 'Where it is seen: indexes in `views`.',
});

const finding = closed({
  damage_id: { ...damageId, description: 'The damage of `parts` that this is a sight of.' },
  type: damageType,
  part: damagedPart,
  side,
  confidence,
  bbox: boundingBox,
  polygon,
});

const seenView = closed({
  image_index: { ...imageIndex, description: 'Index of the picture or video in the request, from 0.' },
  time_offset_ms: nullable({ ...timeOffsetMs, description: 'Milliseconds into the video; null for a picture.' }),
  frame: nullable({ ...artefact, description: 'The frame of the video; null for a picture.' }),
  view,
  is_usable: Type.Boolean({ description: 'Whether it went into the inspection; `quality_issues` says why not.' }),
  quality_issues: qualityIssues,
  findings: Type.Array(finding, { description: 'What this view alone shows, most confident first.' }),
});

const damage = closed({
  id: damageId,
  type: damageType,
  confidence,
  severity: classified([...SEVERITIES]),
  repair_method: classified([...REPAIR_METHODS]),
  size: nullable(damageSize),
  is_new: nullable(
    Type.Boolean({ description: 'Whether the baseline inspection did not have it; null without a baseline.' }),
  ),
  views: viewIndexes,
});

const inspectedPart = closed({
  part: partName,
  side,
  confidence,
  views: viewIndexes,
  worst_severity: nullable(Type.Enum(SEVERITIES, { description: 'Of its damages; null for a part without any.' })),
  damages: Type.Array(damage, { description: 'Each once, however many views show it; worst first.' }),
});

const overall = closed({
  condition_grade: classified([...CONDITION_GRADES]),
  drivable: closed({ value: Type.Boolean(), confidence }, 'Whether the vehicle can be driven, by what is seen.'),
});

export const result = closed({
  overall: nullable({ ...overall, description: 'Null where no vehicle is seen.' }),
  views: Type.Array(seenView, {
    description: 'Every picture of the request, and the key frames of its videos, with what each shows.',
  }),
  missing_views: Type.Array(Type.Enum(VIEWS), { description: 'Expected, and shown by no usable picture.' }),
  parts: Type.Array(inspectedPart, {
    description: 'Every part that was examined, the damaged ones first. A part that is not among them was not seen.',
  }),
  repair_estimate: nullable({
    ...repairEstimate,
    description:
      'Null with `include_repair_estimate: false`, without damages, and where its stage failed or was skipped.',
  }),
  report: nullable({
    ...artefact,
    description: 'PDF. Null with `include_report: false`, without a vehicle, and where its stage failed.',
  }),
});

export type Result = Type.Static<typeof result>;
