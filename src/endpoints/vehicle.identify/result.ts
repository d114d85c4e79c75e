import { Type } from 'typebox';
import { VIEWS } from '../../contracts/vocabulary/pictures.ts';
import {
  boundingBox,
  classified,
  closed,
  confidence,
  imageIndex,
  nullable,
} from '../../contracts/vocabulary/schemas.ts';
import { BODY_TYPES, COLORS, PAINT_FINISHES } from '../../contracts/vocabulary/vehicles.ts';

const year = Type.Integer({ minimum: 1885, maximum: 2100 });

const make = closed({ value: Type.String(), confidence }, 'The most likely make, across all its models.');

const candidate = closed({
  make: Type.String(),
  model: Type.String(),
  generation: nullable(
    Type.String({ description: 'The usual name of the generation, such as `II`; null if unknown.' }),
  ),
  year_from: year,
  year_to: nullable(year),
  confidence,
});

const color = closed({
  value: Type.Enum(COLORS),
  hex: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'The paint under neutral light, sRGB.' }),
  finish: nullable(Type.Enum(PAINT_FINISHES)),
  confidence,
});

const badge = closed({ text: Type.String(), confidence, image_index: imageIndex, bbox: boundingBox });

const sighting = closed({ image_index: imageIndex, view: Type.Enum(VIEWS), confidence, bbox: boundingBox });

const sameVehicle = closed(
  { value: Type.Boolean(), confidence },
  'Whether all pictures show the same vehicle; null if fewer than two pictures show one.',
);

export const result = closed({
  make: nullable(make),
  candidates: Type.Array(candidate, {
    description:
      'Most likely first. `year_from` to `year_to` are the production years of the generation, or of the model if ' +
      '`generation` is null; `year_to` is null while it is in production.',
  }),
  body_type: nullable(classified(BODY_TYPES)),
  color: nullable(color),
  badges: Type.Array(badge, { description: 'Lettering on the vehicle that states make, model or variant.' }),
  sightings: Type.Array(sighting, { description: 'One entry per picture that shows the vehicle, with its location.' }),
  same_vehicle: nullable(sameVehicle),
});

export type Result = Type.Static<typeof result>;
