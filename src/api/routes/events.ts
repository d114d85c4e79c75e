import { Type } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { CREDIT_EVENT_TYPES, EVENT_TYPES } from '../../contracts/job.ts';
import { findReadableEvent, findReadableEvents } from '../../jobs/readable-jobs-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { jobReaderOf } from '../job-reader.ts';
import { createdParameters, createQueryReader, pageParameters } from '../requests/query.ts';
import { refuseUnknownQuery } from '../requests/request-options.ts';

/** Query parameters of `GET /v1/events`. */
export const listEventsParameters = Type.Object(
  { ...pageParameters, type: Type.Optional(Type.Enum([...EVENT_TYPES, ...CREDIT_EVENT_TYPES])), ...createdParameters },
  { additionalProperties: false },
);

const readQuery = createQueryReader(listEventsParameters);

/** `GET /v1/events`: the events of the last 30 days, delivered to webhooks or not. */
export function createListEventsRoute(endpoints: readonly EndpointContract[], clock: () => Date) {
  return async (context: ApiContext): Promise<void> => {
    const reader = jobReaderOf(context.state.apiKey, endpoints);
    const page = await findReadableEvents(context.state.em, reader, readQuery(context), clock());
    const data: unknown[] = page.rows.map(({ payload }) => JSON.parse(payload));
    context.body = { object: 'list', data, has_more: page.hasMore };
  };
}

/** `GET /v1/events/{id}` */
export function createGetEventRoute(endpoints: readonly EndpointContract[]) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const id = String(context.params.id);
    const event = await findReadableEvent(context.state.em, jobReaderOf(context.state.apiKey, endpoints), id);
    if (!event) throw new ServiceError('resource_not_found', `There is no event ${id}.`, { param: 'id' });
    context.type = 'application/json';
    context.body = event.payload;
  };
}
