import { Type } from 'typebox';
import { likelyCountry, likelyRegion } from '../../contracts/vocabulary/countries.ts';
import { READING_DEFECTS, readingIssues } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, characters, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';

const plate = closed({
  text: nullable(
    Type.String({
      minLength: 1,
      maxLength: 16,
      pattern: '^[^\\s-]+$',
      description: 'Upper case, without spaces and dashes. Null if the plate was found but cannot be read.',
    }),
  ),
  confidence: { ...confidence, description: 'From 0 to 1. That the plate is one, if it has no `text`.' },
  characters: { ...characters, description: 'One entry per character, in reading order; empty without a `text`.' },
  country: nullable(likelyCountry),
  region: nullable(likelyRegion),
  bbox: boundingBox,
  quad,
});

export const result = closed({
  plates: Type.Array(plate, { description: 'Largest first.' }),
  quality_issues: Type.Optional(readingIssues(...READING_DEFECTS, 'no_plate')),
});

export type Result = Type.Static<typeof result>;
