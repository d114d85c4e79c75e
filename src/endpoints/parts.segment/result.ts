import { Type } from 'typebox';
import { completeness, namedPart } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/pictures.ts';
import { artefact, boundingBox, closed, nullable, polygon } from '../../contracts/vocabulary/schemas.ts';

const segmentedPart = closed({
  ...namedPart,
  bbox: boundingBox,
  polygons: Type.Array(polygon, {
    minItems: 1,
    description: 'One outline, or several if something in front splits the part.',
  }),
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Area of the part as a fraction of the picture.' }),
  ...completeness,
  mask_value: Type.Integer({ minimum: 1, maximum: 255, description: "Value of the part's pixels in `mask`." }),
});

export const result = closed({
  view,
  parts: Type.Array(segmentedPart, { description: 'Largest first.' }),
  mask: nullable({
    ...artefact,
    description:
      'Greyscale PNG of the size of the picture: the pixels of each listed part have its `mask_value`, all others are 0. ' +
      'Null unless `include_mask` is true.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
