import { Type } from 'typebox';
import { namedPart } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/picture-schemas.ts';
import { boundingBox, classified, closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { SUBJECTS } from '../../contracts/vocabulary/subjects.ts';

const recognizedPart = closed({
  ...namedPart,
  bbox: boundingBox,
  alternatives: Type.Array(closed(namedPart), { description: 'What else it may be, most confident first.' }),
});

export const result = closed({
  view,
  subject: nullable(classified([...SUBJECTS])),
  main_part: nullable(closed(namedPart, 'The part the picture is about; null when it is about no single one.')),
  parts: Type.Array(recognizedPart, { description: 'Most confident first.' }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
