import { Type } from 'typebox';
import { PLATE_MODES } from '../../contracts/vocabulary/renders.ts';
import { artefact, boundingBox, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';

const plate = closed({ confidence, bbox: boundingBox, quad });

export const result = closed({
  image: {
    ...artefact,
    description:
      'The picture with its plates anonymised, in the media type and size of the original. Without a plate it is the ' +
      'original picture, encoded anew and without its metadata.',
  },
  mode: Type.Enum(PLATE_MODES),
  replacement_text: nullable(
    Type.String({ description: 'Null unless plates were replaced and the request gave a text.' }),
  ),
  fill_color: nullable(Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Null with `blur`.' })),
  plates: Type.Array(plate, {
    description: 'The anonymised plates, largest first. Their text is neither returned nor stored.',
  }),
});

export type Result = Type.Static<typeof result>;
