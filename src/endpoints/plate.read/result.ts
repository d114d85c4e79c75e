import { Type } from 'typebox';
import { likelyCountry, likelyRegion } from '../../contracts/vocabulary/countries.ts';
import { boundingBox, characters, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';

const plate = closed({
  text: Type.String({
    minLength: 1,
    maxLength: 16,
    pattern: '^[^\\s-]+$',
    description: 'Upper case, without spaces and dashes.',
  }),
  confidence,
  characters,
  country: nullable(likelyCountry),
  region: nullable(likelyRegion),
  bbox: boundingBox,
  quad,
});

export const result = closed({ plates: Type.Array(plate, { description: 'Largest first.' }) });

export type Result = Type.Static<typeof result>;
