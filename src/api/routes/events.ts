import { Type } from 'typebox';
import { CREDIT_EVENT_TYPES, EVENT_TYPES } from '../../contracts/job.ts';
import { Event } from '../../db/entities.ts';
import { createdWithin, findPage } from '../../db/pages.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import { createdParameters, createQueryReader, pageParameters } from '../requests/query.ts';
import { refuseUnknownQuery } from '../requests/request-options.ts';

const RETENTION_MS = 30 * 24 * 60 * 60_000;

/** Query parameters of `GET /v1/events`. */
export const listEventsParameters = Type.Object(
  { ...pageParameters, type: Type.Optional(Type.Enum([...EVENT_TYPES, ...CREDIT_EVENT_TYPES])), ...createdParameters },
  { additionalProperties: false },
);

const readQuery = createQueryReader(listEventsParameters);

/** `GET /v1/events`: what was or would have been delivered to webhooks in the last 30 days. */
export function createListEventsRoute(clock: () => Date) {
  return async (context: ApiContext): Promise<void> => {
    const { organizationId, livemode } = context.state.apiKey;
    const filter = readQuery(context);
    const oldest = new Date(clock().getTime() - RETENTION_MS);
    const { createdAt } = createdWithin(filter);
    const where = {
      organizationId,
      livemode,
      isTest: false,
      ...(filter.type !== undefined && { type: filter.type }),
      $and: [{ createdAt: { $gte: oldest } }, ...(createdAt ? [{ createdAt }] : [])],
    };
    const page = await findPage<Event>(context.state.em, Event, where, filter);
    const data: unknown[] = page.rows.map(({ payload }) => JSON.parse(payload));
    context.body = { object: 'list', data, has_more: page.hasMore };
  };
}

/** `GET /v1/events/{id}` */
export async function getEvent(context: ApiContext): Promise<void> {
  refuseUnknownQuery(context, []);
  const { organizationId, livemode } = context.state.apiKey;
  const id = String(context.params.id);
  const event = await context.state.em.findOne(Event, { id, organizationId, livemode });
  if (!event) throw new ServiceError('resource_not_found', `There is no event ${id}.`, { param: 'id' });
  context.type = 'application/json';
  context.body = event.payload;
}
