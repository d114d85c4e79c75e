import { Type } from 'typebox';
import { ENGINE_PARTS } from '../../contracts/vocabulary/engine-parts.ts';
import { boundingBox, classified, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { PROPULSIONS } from '../../contracts/vocabulary/vehicles.ts';

export const result = closed({
  engine_bay: nullable(closed({ confidence, bbox: boundingBox }, 'The visible space under the open hood.')),
  propulsion: nullable(classified(PROPULSIONS)),
  parts: Type.Array(closed({ part: Type.Enum(ENGINE_PARTS), confidence, bbox: boundingBox }), {
    description: 'Most confident first. A part that is present twice has two entries.',
  }),
});

export type Result = Type.Static<typeof result>;
