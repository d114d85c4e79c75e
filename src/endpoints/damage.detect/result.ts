import { Type } from 'typebox';
import { damage } from '../../contracts/vocabulary/damage-schemas.ts';
import { namedPart } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/picture-schemas.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';

export const result = closed({
  view,
  parts_seen: Type.Array(closed(namedPart), {
    description: 'The parts that were examined. A part that is not among them may be damaged all the same.',
  }),
  damages: Type.Array(damage, { description: 'Most confident first.' }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
