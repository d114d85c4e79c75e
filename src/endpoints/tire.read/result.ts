import { Type } from 'typebox';
import { IMAGE_QUALITY_REASONS, readingIssues } from '../../contracts/vocabulary/pictures.ts';
import {
  boundingBox,
  characters,
  classified,
  closed,
  confidence,
  nullable,
  polygon,
} from '../../contracts/vocabulary/schemas.ts';
import {
  SPEED_INDEXES,
  TIRE_CONSTRUCTIONS,
  TIRE_MARKS,
  TIRE_POSITIONS,
  TIRE_SEASONS,
  TIRE_SERVICES,
} from '../../contracts/vocabulary/tires.ts';

/** Lettering on the sidewall. `characters` are those of `text` without its spaces. */
const lettering = { text: Type.String(), characters, confidence, bbox: boundingBox, polygon };

const size = closed({
  ...lettering,
  service: Type.Enum(TIRE_SERVICES),
  width_mm: Type.Integer({ minimum: 1, description: 'Nominal section width.' }),
  aspect_ratio: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Section height in percent of the width; null if the sidewall states none.',
    }),
  ),
  construction: nullable(Type.Enum(TIRE_CONSTRUCTIONS)),
  rim_inches: Type.Number({ minimum: 1, description: 'Rim diameter in inches.' }),
});

const loadIndex = closed({
  value: Type.Integer({ minimum: 0, maximum: 279, description: 'For a single tire on its side of the axle.' }),
  dual_value: nullable(Type.Integer({ minimum: 0, maximum: 279, description: 'For twin tires, as in `112/110`.' })),
  maximum_load_kg: Type.Number({ minimum: 0, description: 'Maximum load that `value` stands for.' }),
  confidence,
  bbox: boundingBox,
});

const speedIndex = closed({
  value: Type.Enum(SPEED_INDEXES),
  maximum_speed_kmh: nullable(Type.Integer({ minimum: 0, description: 'Null if the symbol states no limit.' })),
  confidence,
  bbox: boundingBox,
});

const dot = closed(
  {
    ...lettering,
    plant_code: nullable(Type.String()),
    size_code: nullable(Type.String()),
    option_code: nullable(Type.String({ description: "The manufacturer's own code." })),
    week: nullable(Type.Integer({ minimum: 1, maximum: 53, description: 'Week of manufacture.' })),
    year: nullable(Type.Integer({ minimum: 1990, maximum: 2099, description: 'Year of manufacture, four digits.' })),
  },
  'The tire identification number. `week` and `year` are null if the sidewall omits the date code.',
);

const name = closed({ value: Type.String({ minLength: 1 }), confidence, bbox: boundingBox });

const mark = closed({ mark: Type.Enum(TIRE_MARKS), confidence, bbox: boundingBox });

export const result = closed({
  position: nullable(
    Type.Enum(TIRE_POSITIONS, { description: 'The `position` of the request, or null. It is not detected.' }),
  ),
  size: nullable(size),
  load_index: nullable(loadIndex),
  speed_index: nullable(speedIndex),
  dot: nullable(dot),
  brand: nullable(name),
  model: nullable(name),
  season: nullable(classified(TIRE_SEASONS)),
  marks: Type.Array(mark, { description: 'Symbols and short markings, most confident first.' }),
  quality_issues: readingIssues(...IMAGE_QUALITY_REASONS, 'no_tire'),
});

export type Result = Type.Static<typeof result>;
