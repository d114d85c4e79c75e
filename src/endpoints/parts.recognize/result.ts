import { Type } from 'typebox';
import { namedPart } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues, SUBJECTS, view } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, classified, closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const recognizedPart = closed({
  ...namedPart,
  bbox: boundingBox,
  alternatives: Type.Array(closed(namedPart), { description: 'Other parts that it may be, most confident first.' }),
});

export const result = closed({
  view,
  subject: nullable(classified(SUBJECTS)),
  main_part: nullable(closed(namedPart, 'The part that the picture focuses on; null if there is no single one.')),
  parts: Type.Array(recognizedPart, { description: 'Most confident first.' }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
