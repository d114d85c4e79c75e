import { Type } from 'typebox';
import { onePicture, VIEWS } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    expected_view: Type.Optional(
      Type.Enum(VIEWS, {
        description: 'The view that you expect. `matches_expected_view` states whether the picture shows it.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ expected_view: 'right' }] },
);

export type Parameters = Type.Static<typeof parameters>;
