import { Type } from 'typebox';
import { damage } from '../../contracts/vocabulary/damages.ts';
import { namedPart } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/pictures.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';

export const result = closed({
  view,
  parts_seen: Type.Array(closed(namedPart), {
    description: 'The parts that were examined. Parts not listed may be damaged too.',
  }),
  damages: Type.Array(damage, { description: 'Most confident first.' }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
