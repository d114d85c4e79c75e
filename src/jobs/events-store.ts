/** Pages of events, newest first. */
import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '../platform/database/orm.ts';
import { assertCursors, findPlaceOfParts, type Page, type PageRequest, pageOf } from '../platform/database/pages.ts';
import { Event } from './entities.ts';

type Owner = Pick<Event, 'organizationId' | 'livemode'>;

/**
 * One page of the events that any of `parts` selects, by the time of the event: its id is its job's, which sorts by admission. No two
 * parts may select the same. A cursor whose event has been deleted marks a position by its id, as does one of another owner.
 * @throws ServiceError `parameter_invalid` for two cursors, or for one that is not the id of an event
 */
export async function findEvents(
  em: EntityManager,
  owner: Owner,
  parts: readonly FilterQuery<Event>[],
  request: PageRequest,
): Promise<Page<Event>> {
  assertCursors('event', request);
  const { limit, starting_after: after, ending_before: before } = request;
  const isBackward = before !== undefined;
  const cursor = await beyond(em, owner, after ?? before, isBackward ? '$gt' : '$lt');
  const direction = isBackward ? 'asc' : 'desc';
  const place = { cursor, orderBy: { createdAt: direction, id: direction }, limit: limit + 1 } as const;
  return pageOf(await findPlaceOfParts(em, Event, parts, place), request);
}

async function beyond(
  em: EntityManager,
  { organizationId, livemode }: Owner,
  cursor: string | undefined,
  operator: '$gt' | '$lt',
): Promise<FilterQuery<Event>> {
  if (cursor === undefined) return {};
  const event = await em.findOne(Event, { id: cursor, organizationId, livemode }, { fields: ['createdAt'] });
  if (!event) return { id: { [operator]: cursor } };
  const { createdAt } = event;
  // The first condition bounds the scan of the index; the second one breaks ties.
  return {
    createdAt: { [`${operator}e`]: createdAt },
    $or: [{ createdAt: { [operator]: createdAt } }, { id: { [operator]: cursor } }],
  };
}
