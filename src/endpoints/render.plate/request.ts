import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
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
          '`blur`: an irreversible blur. `mask`: filled with one colour. `replace`: a plate of your own in the same ' +
          'perspective and light.',
      }),
    ),
    replacement_text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 12,
        pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} .·-]*$',
        description:
          'Text of the new plate, exactly as it should appear; only with `replace`. Defaults to a plate without text.',
      }),
    ),
    fill_color: Type.Optional(
      hexColor(
        `Colour of the mask, or of the background of the new plate; not with \`blur\`. Defaults to ` +
          `\`${DEFAULT_FILL_COLORS.mask}\` with \`mask\` and \`${DEFAULT_FILL_COLORS.replace}\` with \`replace\`.`,
      ),
    ),
  },
  { additionalProperties: false, examples: [{ mode: 'blur' }] },
);

export type Parameters = Type.Static<typeof parameters>;
