/** Pages of rows whose ids sort by time, newest first. */
import type { EntityManager, EntityName, FilterQuery } from '@mikro-orm/core';
import { ServiceError } from '../domain/service-error.ts';

export interface PageRequest {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

export interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** One page of what `where` selects. A cursor need not exist: it only marks a place in the order. */
export async function findPage<Row extends { id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  where: FilterQuery<Row>,
  { limit, starting_after: after, ending_before: before }: PageRequest,
): Promise<Page<Row>> {
  if (after !== undefined && before !== undefined) {
    throw new ServiceError('parameter_invalid', 'Give "starting_after" or "ending_before", not both.', {
      param: 'ending_before',
    });
  }
  const cursor = after !== undefined ? { id: { $lt: after } } : before !== undefined ? { id: { $gt: before } } : {};
  const isBackward = before !== undefined;
  const rows = await em.find(entity, { $and: [where, cursor] } as FilterQuery<Row>, {
    orderBy: { id: isBackward ? 'asc' : 'desc' } as never,
    limit: limit + 1,
  });
  const page = rows.slice(0, limit) as Row[];
  return { rows: isBackward ? page.reverse() : page, hasMore: rows.length > limit };
}

/** The SQL bounds of a `created[…]` filter, whose values are epoch seconds. */
export function createdWithin(filter: Readonly<Record<string, unknown>>): { createdAt?: Record<string, Date> } {
  const bounds = ['gte', 'gt', 'lte', 'lt'].flatMap((bound) => {
    const seconds = filter[`created[${bound}]`];
    if (typeof seconds !== 'number') return [];
    // A time is shown as the whole second it lies in: `gt` and `lte` take in or leave out that whole second.
    const isAfterSecond = bound === 'gt' || bound === 'lte';
    const operator = bound.startsWith('g') ? '$gte' : '$lt';
    return [[operator, new Date((seconds + (isAfterSecond ? 1 : 0)) * 1000)] as const];
  });
  return bounds.length > 0 ? { createdAt: Object.fromEntries(bounds) } : {};
}
