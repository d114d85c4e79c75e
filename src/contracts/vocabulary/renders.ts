/** Options of the endpoints that produce pictures and videos. */
import { Type } from 'typebox';

export const OUTPUT_FORMATS = ['jpg', 'png', 'webp'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
export const DEFAULT_OUTPUT_FORMAT = 'jpg' satisfies OutputFormat;

export const outputFormat = Type.Enum(OUTPUT_FORMATS, {
  default: DEFAULT_OUTPUT_FORMAT,
  description: 'File format of the output picture.',
});

export const hexColor = (description: string) =>
  Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: `${description} Format \`#rrggbb\`, sRGB.` });

/** Backgrounds for a cut-out vehicle. */
export const SCENES = ['studio_white', 'studio_gray', 'studio_dark', 'showroom', 'forecourt'] as const;

/** `GAN` is fast; `fine_grain` is a tiled diffusion enhancer of higher quality. */
export const ENHANCER_MODELS = ['GAN', 'fine_grain'] as const;

export const ENHANCE_OPERATIONS = [
  'denoise',
  'sharpen',
  'deblur',
  'upscale',
  'exposure_correction',
  'white_balance',
  'reflection_removal',
  'perspective_correction',
] as const;

export const UPSCALE_FACTORS = [1, 2, 4] as const;

export const PLATE_MODES = ['blur', 'mask', 'replace'] as const;

export const ASPECT_RATIOS = ['16:9', '1:1', '9:16'] as const;
