/** Pages of rows whose ids sort by time, newest first. */
import type { EntityName, FilterQuery, QueryOrderMap } from '@mikro-orm/core';
import { firstIdAt, ID_PREFIXES, type IdKind, isId } from '../ids.ts';
import { ServiceError } from '../service-error.ts';
import type { EntityManager } from './orm.ts';

export interface PageRequest {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

export interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** @throws ServiceError `parameter_invalid` for two cursors, or for a cursor that is not an id of this kind */
export function assertCursors(
  /** Kind of id that a cursor must have; null when the caller has checked its cursors. */
  idKind: IdKind | null,
  { starting_after: after, ending_before: before }: Omit<PageRequest, 'limit'>,
): void {
  if (after !== undefined && before !== undefined) {
    throw new ServiceError('parameter_invalid', 'Give "starting_after" or "ending_before", not both.', {
      param: 'ending_before',
    });
  }
  for (const [param, id] of [
    ['starting_after', after],
    ['ending_before', before],
  ] as const) {
    if (id === undefined || idKind === null || isId(idKind, id)) continue;
    const message = `"${param}" must be an id as this list returns them: ${ID_PREFIXES[idKind]}…`;
    throw new ServiceError('parameter_invalid', message, { param });
  }
}

/**
 * One page of what `where` selects. A cursor need not exist: it only marks a place in the order.
 * @throws ServiceError `parameter_invalid` for two cursors, or for one that is no id of this kind of row
 */
export async function findPage<Row extends { id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  /** Kind of id that a cursor must be; null: the caller has checked its cursors. */
  idKind: IdKind | null,
  where: FilterQuery<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  return await findPageOfParts(em, entity, idKind, [where], request);
}

/**
 * As `findPage`, of the rows that any of `parts` selects; no two may select the same. For parts that an index has in order, as the
 * jobs of an endpoint or a mode: of each no more than a page is looked at, however much it has.
 */
export async function findPageOfParts<Row extends { id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  idKind: IdKind | null,
  parts: readonly FilterQuery<Row>[],
  request: PageRequest,
): Promise<Page<Row>> {
  assertCursors(idKind, request);
  return pageOf(await findPlaceOfParts(em, entity, parts, placeOf<Row>(request)), request);
}

/** Where a page begins, its order, and one row more than it has. */
export interface Place<Row> {
  cursor: FilterQuery<Row>;
  orderBy: QueryOrderMap<Row>;
  limit: number;
}

/** The rows of a place that any of `parts` selects: see `findPageOfParts`. */
export async function findPlaceOfParts<Row extends { id: string }>(
  em: EntityManager,
  entity: EntityName<Row>,
  parts: readonly FilterQuery<Row>[],
  { cursor, orderBy, limit }: Place<Row>,
): Promise<Row[]> {
  const [where, ...others] = parts.map((part) => ({ $and: [part, cursor] }) as FilterQuery<Row>);
  if (where === undefined) return [];
  if (others.length === 0) return (await em.find(entity, where, { orderBy, limit })) as Row[];
  const columns = ['id', ...Object.keys(orderBy).filter((column) => column !== 'id')];
  const pageOfPart = (part: FilterQuery<Row>) =>
    em
      .createQueryBuilder<Row>(entity)
      .select(columns as never)
      .where(part as never)
      .orderBy(orderBy)
      .limit(limit);
  const ids = em
    .createQueryBuilder<Row, 'part'>(pageOfPart(where).unionAll(...others.map(pageOfPart)) as never, 'part')
    .select('id' as never)
    .orderBy(orderBy)
    .limit(limit);
  // Raw: an id with a type of its own would be converted.
  return (await em.find(entity, { id: { $in: ids.toRaw() } } as FilterQuery<Row>, { orderBy })) as Row[];
}

function placeOf<Row>({ limit, starting_after: after, ending_before: before }: PageRequest): Place<Row> {
  const cursor = after !== undefined ? { id: { $lt: after } } : before !== undefined ? { id: { $gt: before } } : {};
  const orderBy = { id: before === undefined ? 'desc' : 'asc' } as QueryOrderMap<Row>;
  return { cursor: cursor as FilterQuery<Row>, orderBy, limit: limit + 1 };
}

/** The page of rows that were read in its order, one more than it has. */
export function pageOf<Row>(rows: readonly Row[], { limit, ending_before: before }: PageRequest): Page<Row> {
  const page = rows.slice(0, limit);
  return { rows: before === undefined ? page : page.reverse(), hasMore: rows.length > limit };
}

/** A row is created at most this long after its id. */
const ID_AGE_MS = 60 * 60_000;

/** The lowest id of a row created from a time on, and that of one created well after it. */
export const firstIdOfRowsFrom = (idKind: IdKind, time: Date): string =>
  firstIdAt(idKind, new Date(time.getTime() - ID_AGE_MS));
export const firstIdOfRowsAfter = (idKind: IdKind, time: Date): string =>
  firstIdAt(idKind, new Date(time.getTime() + ID_AGE_MS));

interface CreatedBounds {
  createdAt?: Record<string, Date>;
  id?: Record<string, string>;
}

/**
 * The SQL bounds of a `created[…]` filter, whose values are epoch seconds. With the kind of the ids, which sort by time, they bound
 * the ids too: a list in the order of ids then reads no row that is much older or newer.
 */
export function createdWithin(filter: Readonly<Record<string, unknown>>, idKind?: IdKind): CreatedBounds {
  const createdAt: Record<string, Date> = {};
  const id: Record<string, string> = {};
  for (const bound of ['gte', 'gt', 'lte', 'lt']) {
    const seconds = filter[`created[${bound}]`];
    if (typeof seconds !== 'number') continue;
    // Times are shown as whole seconds, so `gt` excludes and `lte` includes the whole second.
    const isAfterSecond = bound === 'gt' || bound === 'lte';
    const time = new Date((seconds + (isAfterSecond ? 1 : 0)) * 1000);
    const isLower = bound.startsWith('g');
    createdAt[isLower ? '$gte' : '$lt'] = time;
    if (idKind) id[isLower ? '$gte' : '$lt'] = (isLower ? firstIdOfRowsFrom : firstIdOfRowsAfter)(idKind, time);
  }
  return {
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
    ...(Object.keys(id).length > 0 && { id }),
  };
}
