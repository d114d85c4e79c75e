import { Type } from 'typebox';
import {
  boundingBox,
  classified,
  closed,
  confidence,
  imageIndex,
  nullable,
} from '../../contracts/vocabulary/schemas.ts';
import { BODY_TYPES, COLORS, PAINT_FINISHES } from '../../contracts/vocabulary/vehicles.ts';
import { VIEWS } from '../../contracts/vocabulary/views.ts';

const year = Type.Integer({ minimum: 1885, maximum: 2100 });

const make = closed({ value: Type.String(), confidence }, 'The likeliest make, all its models taken together.');

const candidate = closed({
  make: Type.String(),
  model: Type.String(),
  generation: nullable(
    Type.String({ description: "As the trade names it, such as `II`; null where it can't be told." }),
  ),
  year_from: year,
  year_to: nullable(year),
  confidence,
});

const color = closed({
  value: Type.Enum(COLORS),
  hex: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'The paint in neutral light, sRGB.' }),
  finish: nullable(Type.Enum(PAINT_FINISHES)),
  confidence,
});

const badge = closed({ text: Type.String(), confidence, image_index: imageIndex, bbox: boundingBox });

const sighting = closed({ image_index: imageIndex, view: Type.Enum(VIEWS), confidence, bbox: boundingBox });

const sameVehicle = closed(
  { value: Type.Boolean(), confidence },
  'Whether all pictures show one vehicle; null where fewer than two show any.',
);

export const result = closed({
  make: nullable(make),
  candidates: Type.Array(candidate, {
    description:
      'Most likely first. `year_from` to `year_to` are the years of manufacture of the generation, or of the model ' +
      'where `generation` is null; `year_to` is null while it is made.',
  }),
  body_type: nullable(classified([...BODY_TYPES])),
  color: nullable(color),
  badges: Type.Array(badge, { description: 'Lettering on the vehicle that names make, model or version.' }),
  sightings: Type.Array(sighting, { description: 'Where the vehicle is seen: one entry a picture that shows it.' }),
  same_vehicle: nullable(sameVehicle),
});

export type Result = Type.Static<typeof result>;
