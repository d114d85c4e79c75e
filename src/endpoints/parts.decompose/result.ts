import { Type } from 'typebox';
import { namedPart } from '../../contracts/vocabulary/part-schemas.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/picture-schemas.ts';
import { artefact, boundingBox, closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const pixels = Type.Integer({ minimum: 1, description: 'In pixels.' });

const cutOutPart = closed({
  ...namedPart,
  bbox: boundingBox,
  is_cut_off: Type.Boolean({ description: "Whether the picture's edge cuts it." }),
  is_occluded: nullable(
    Type.Boolean({
      description: 'Whether something in front hides a piece of it; null where the model does not tell.',
    }),
  ),
  cut_out: artefact,
  layout: closed(boundingBox.properties, 'Where the cut-out lies on the exploded view, in its pixels.'),
});

const explodedView = closed(
  { width: pixels, height: pixels, image: nullable(artefact) },
  'The sheet on which each `layout` lies. `image` is null unless `include_exploded_view` asked for it.',
);

export const result = closed({
  view,
  parts: Type.Array(cutOutPart, { description: 'From the back of the exploded view to its front.' }),
  exploded_view: nullable(explodedView),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
