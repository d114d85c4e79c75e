import { DEFAULT_OUTPUT_FORMAT, type OutputFormat } from '../../contracts/vocabulary/renders.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Applied = Result['operations_applied'][number];
type Skipped = Result['operations_skipped'][number];

/** A fixture has its picture in every size and format. Its `after` has the same size as its `before`. */
export type Fixture = Omit<Result, 'image'> & { image: Record<string, Record<OutputFormat, Result['image']>> };

/** Applies the request's parameters to a fixture. The fixture's operations are those that its picture needs. */
export function applyParameters(fixture: Fixture, parameters: Parameters): Result {
  const { operations, upscale_factor: factor = 1, output_format = DEFAULT_OUTPUT_FORMAT } = parameters;
  const image = fixture.image[factor]?.[output_format];
  if (!image) throw new Error(`the fixture has no picture ${factor} times as large as ${output_format}`);
  const needed = fixture.operations_applied.filter(({ operation }) => !operations || operations.includes(operation));
  const applied = factor === 1 ? needed : [...needed, enlargement(factor)];
  return {
    ...fixture,
    image,
    enhancer_model: parameters.enhancer_model ?? 'GAN',
    operations_applied: applied,
    operations_skipped: skipped(fixture, applied, operations),
    after: {
      width: fixture.before.width * factor,
      height: fixture.before.height * factor,
      quality: applied.length > 0 ? fixture.after.quality : fixture.before.quality,
    },
  };
}

function enlargement(factor: number): Applied {
  return { operation: 'upscale', confidence: 1, parameters: { factor } };
}

/** Requested operations that were not applied. The fixture lists those that would do harm. */
function skipped(fixture: Fixture, applied: readonly Applied[], requested: Parameters['operations'] = []): Skipped[] {
  return requested
    .filter((operation) => !applied.some((one) => one.operation === operation))
    .map(
      (operation) =>
        fixture.operations_skipped.find((one) => one.operation === operation) ?? {
          operation,
          reason: operation === 'upscale' ? 'upscale_factor_is_1' : 'not_needed',
        },
    );
}
