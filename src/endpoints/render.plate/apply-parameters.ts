import { DEFAULT_FILL_COLORS, DEFAULT_MODE, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** A fixture has its picture anonymised in every mode. */
export type Fixture = Pick<Result, 'plates'> & { image: Record<Result['mode'], Result['image']> };

/** Applies the request's parameters to a fixture. */
export function applyParameters({ image, plates }: Fixture, parameters: Parameters): Result {
  const { mode = DEFAULT_MODE, replacement_text = null, fill_color } = parameters;
  return {
    image: image[mode],
    mode,
    replacement_text,
    fill_color: mode === 'blur' ? null : (fill_color?.toLowerCase() ?? DEFAULT_FILL_COLORS[mode]),
    plates,
  };
}
