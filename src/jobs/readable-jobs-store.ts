/** Jobs and events that an API key may read. To the key, all others do not exist. */
import type { CreditEventType, EventType, JobStatus } from '../contracts/job.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { createdWithin, findPage, findPageOfParts, type Page, type PageRequest } from '../platform/database/pages.ts';
import { Event, Job } from './entities.ts';
import { findEvents } from './events-store.ts';
import { isTerminal } from './job-states.ts';

export interface JobReader {
  organizationId: string;
  livemode: boolean;
  /** Slugs of the endpoints whose jobs may be read; null for every endpoint, also one that no longer exists. */
  endpoints: readonly string[] | null;
}

/** A filter of a list, as its query names it. The keys `created[…]` are bounds in epoch seconds. */
export type ListFilter<Fields> = PageRequest & Fields & Readonly<Record<string, unknown>>;

const EVENT_RETENTION_MS = 30 * 24 * 60 * 60_000;

export function findReadableJob(em: EntityManager, reader: JobReader, id: string): Promise<Job | null> {
  return em.findOne(Job, { $and: [{ id }, readableJobs(reader)] });
}

/** @throws ServiceError `parameter_invalid` for a cursor that is not an id of a job */
export function findReadableJobs(
  em: EntityManager,
  reader: JobReader,
  filter: ListFilter<{ status?: JobStatus; endpoint?: string }>,
): Promise<Page<Job>> {
  const { status, endpoint } = filter;
  const wanted = {
    ...ofStatus(status),
    ...(endpoint !== undefined && { endpoint }),
    ...createdWithin(filter, 'job'),
  };
  const { endpoints, ...owner } = reader;
  if (!endpoints) return findPage<Job>(em, Job, 'job', { ...owner, ...wanted }, filter);
  const listed = endpoints.filter((slug) => endpoint === undefined || slug === endpoint);
  const parts = listed.map((slug) => ({ ...owner, ...wanted, endpoint: slug }));
  return findPageOfParts<Job>(em, Job, 'job', parts, filter);
}

/** Jobs of a status, or all. Open ones are few: that they have not ended lets PostgreSQL find them by an index. */
export function ofStatus(status: JobStatus | undefined): { status?: JobStatus; completedAt?: null } {
  if (status === undefined) return {};
  return isTerminal(status) ? { status } : { status, completedAt: null };
}

const readableJobs = ({ organizationId, livemode, endpoints }: JobReader) => ({
  organizationId,
  livemode,
  ...(endpoints && { endpoint: { $in: [...endpoints] } }),
});

export function findReadableEvent(em: EntityManager, reader: JobReader, id: string): Promise<Event | null> {
  return em.findOne(Event, { $and: [{ id }, { $or: readableEvents(reader) }] });
}

/** The events of the last 30 days. @throws ServiceError `parameter_invalid` for a cursor that is not an id of an event */
export function findReadableEvents(
  em: EntityManager,
  reader: JobReader,
  filter: ListFilter<{ type?: EventType | CreditEventType }>,
  now: Date,
): Promise<Page<Event>> {
  const kept = { isTest: false, createdAt: { $gte: new Date(now.getTime() - EVENT_RETENTION_MS) } };
  const wanted = { ...(filter.type && { type: filter.type }), ...createdWithin(filter) };
  const parts = readableEvents(reader).map((part) => ({ $and: [part, kept, wanted] }));
  return findEvents(em, reader, parts, filter);
}

/** In parts. An event without an endpoint is about credits, which every key may read. */
function readableEvents({ organizationId, livemode, endpoints }: JobReader) {
  const own = { organizationId, livemode };
  return endpoints ? [null, ...endpoints].map((endpoint) => ({ ...own, endpoint })) : [own];
}
