import { DEFAULT_OUTPUT_FORMAT, type OutputFormat } from '../../contracts/vocabulary/renders.ts';
import { DEFAULT_SCENE, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** A fixture has its composite in every format. */
export type Fixture = Omit<Result, 'composite'> & { composite: Record<OutputFormat, Result['composite']> | null };

/** Applies the request's parameters to a fixture. */
export function applyParameters(fixture: Fixture, parameters: Parameters): Result {
  const { background_color, shadow = true, output_format = DEFAULT_OUTPUT_FORMAT } = parameters;
  if (!fixture.composite) return { ...fixture, composite: null };
  return {
    ...fixture,
    composite: fixture.composite[output_format],
    scene: background_color === undefined ? (parameters.scene ?? DEFAULT_SCENE) : null,
    background_color: background_color?.toLowerCase() ?? null,
    has_shadow: shadow && fixture.has_shadow,
  };
}
