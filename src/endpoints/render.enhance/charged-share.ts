import type { Result } from './result.ts';

/** A picture that needs nothing costs nothing. */
export function chargedShare({ operations_applied }: Pick<Result, 'operations_applied'>): number {
  return operations_applied.length > 0 ? 1 : 0;
}
