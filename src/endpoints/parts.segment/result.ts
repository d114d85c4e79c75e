import { Type } from 'typebox';
import { namedPart } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/picture-schemas.ts';
import { artefact, boundingBox, closed, nullable, polygon } from '../../contracts/vocabulary/schemas.ts';

const segmentedPart = closed({
  ...namedPart,
  bbox: boundingBox,
  polygons: Type.Array(polygon, {
    minItems: 1,
    description: 'One outline, or several where something in front parts it.',
  }),
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the picture.' }),
  is_cut_off: Type.Boolean({ description: "Whether the picture's edge cuts it." }),
  is_occluded: nullable(
    Type.Boolean({
      description: 'Whether something in front hides a piece of it; null where the model does not tell.',
    }),
  ),
  mask_value: Type.Integer({ minimum: 1, maximum: 255, description: "Value of the part's pixels in `mask`." }),
});

export const result = closed({
  view,
  parts: Type.Array(segmentedPart, { description: 'Largest first.' }),
  mask: nullable({
    ...artefact,
    description:
      'Greyscale PNG of the size of the picture: the pixels of a part have its `mask_value`, those of no listed part ' +
      'another. Null unless `include_mask` asked for it.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
