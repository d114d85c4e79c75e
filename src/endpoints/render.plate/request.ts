import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { hexColor, PLATE_MODES } from '../../contracts/vocabulary/renders.ts';

export const files = onePicture;

export const DEFAULT_MODE = 'blur';
export const DEFAULT_FILL_COLORS = { mask: '#26292c', replace: '#f4f4f0' } as const;

export const parameters = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(PLATE_MODES, {
        default: DEFAULT_MODE,
        description:
          '`blur`: beyond what can be undone. `mask`: filled with one colour. `replace`: a plate of your own in its ' +
          'place, in its perspective and light.',
      }),
    ),
    replacement_text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 12,
        pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} .·-]*$',
        description:
          'Text of the new plate, as it is to be written; only with `replace`. Left out: a plate without text.',
      }),
    ),
    fill_color: Type.Optional(
      hexColor(
        `Of the mask, or of the new plate behind its text; not with \`blur\`. Left out: \`${DEFAULT_FILL_COLORS.mask}\` and ` +
          `\`${DEFAULT_FILL_COLORS.replace}\`.`,
      ),
    ),
  },
  { additionalProperties: false, examples: [{ mode: 'blur' }] },
);

export type Parameters = Type.Static<typeof parameters>;
