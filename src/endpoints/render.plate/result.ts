import { Type } from 'typebox';
import { PLATE_MODES } from '../../contracts/vocabulary/renders.ts';
import { artefact, boundingBox, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';

const plate = closed({ confidence, bbox: boundingBox, quad });

export const result = closed({
  image: {
    ...artefact,
    description:
      'The picture with its plates treated, of the media type and size of the picture that was sent. Without a plate it ' +
      'is the same picture.',
  },
  mode: Type.Enum(PLATE_MODES),
  replacement_text: nullable(Type.String({ description: 'Null unless plates were replaced by one with a text.' })),
  fill_color: nullable(Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Null of `blur`.' })),
  plates: Type.Array(plate, {
    description: 'The plates that were treated, the largest first. What is written on them is neither read nor kept.',
  }),
});

export type Result = Type.Static<typeof result>;
