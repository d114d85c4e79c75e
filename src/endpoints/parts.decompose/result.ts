import { Type } from 'typebox';
import { completeness, namedPart } from '../../contracts/vocabulary/parts.ts';
import { qualityIssues, view } from '../../contracts/vocabulary/pictures.ts';
import { artefact, boundingBox, closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const pixels = Type.Integer({ minimum: 1, description: 'In pixels.' });

const cutOutPart = closed({
  ...namedPart,
  bbox: boundingBox,
  ...completeness,
  cut_out: artefact,
  layout: closed(boundingBox.properties, 'Position of the cut-out on the exploded view, in pixels.'),
});

const explodedView = closed(
  { width: pixels, height: pixels, image: nullable(artefact) },
  'The canvas that each `layout` refers to. `image` is null unless `include_exploded_view` is true.',
);

export const result = closed({
  view,
  parts: Type.Array(cutOutPart, { description: 'From the back of the exploded view to its front.' }),
  exploded_view: nullable(explodedView),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
