import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { VIEWS } from '../../contracts/vocabulary/views.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    expected_view: Type.Optional(
      Type.Enum(VIEWS, { description: 'The view that was asked for; `matches_expected_view` says whether it is.' }),
    ),
  },
  { additionalProperties: false, examples: [{ expected_view: 'right' }] },
);

export type Parameters = Type.Static<typeof parameters>;
