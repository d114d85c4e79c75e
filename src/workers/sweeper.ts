/** Makes up for crashes: starts what is committed and does not run, and removes what nobody owns. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import { ARTEFACT_LIFETIME_MS } from '../contracts/media-limits.ts';
import { withdrawStaleEndpoints } from '../db/jobs/installed-endpoints.ts';
import {
  deleteExpiredIdempotencyClaims,
  deleteExpiredUploads,
  findStrandedDeliveries,
  findStrandedJobs,
  findUnknownOwners,
  markDeliveryStarted,
  markWorkflowStarted,
} from '../db/jobs/outbox.ts';
import { deleteLeftStageOutcomes } from '../db/jobs/stage-outcomes.ts';
import { rememberWithdrawnEndpoints } from '../db/jobs/withdrawn-endpoints.ts';
import type { MikroORM } from '../db/orm.ts';
import { endpointBySlug } from '../endpoints/list.ts';
import { type ObjectStore, ownerOf, PARTIAL_PREFIX } from '../storage/object-store.ts';
import { startDeliverWebhook, startRunJob } from '../temporal/client.ts';
import { sweepCredits } from './sweep-credits.ts';
import { createRetentionSweep, type RetentionDays } from './sweep-retention.ts';

/** By then the process that committed a row has surely started its workflow, or has died. */
const STRANDED_AFTER_MS = 10_000;
const INTERVAL_MS = 5_000;
/** gRPC: DEADLINE_EXCEEDED and UNAVAILABLE. */
const AWAY: ReadonlySet<number> = new Set([4, 14]);
const STORAGE_INTERVAL_MS = 10 * 60_000;
const CREDITS_INTERVAL_MS = 10_000;
const RETENTION_INTERVAL_MS = 60 * 60_000;
const ANNOUNCEMENTS_INTERVAL_MS = 10_000;
/** Longer than any request takes from its first stored byte to its commit. */
const ORPHANED_AFTER_MS = 60 * 60_000;

export interface SweeperDependencies {
  orm: MikroORM;
  temporal: Client;
  store: ObjectStore;
  logger: Logger;
  /** Left out, nothing is forgotten for its age. */
  retentionDays?: RetentionDays;
  clock?: () => Date;
}

/** One pass over jobs and deliveries. Starting what runs already changes nothing, so replicas need not agree. */
export async function sweepOutbox({
  orm,
  temporal,
  logger,
  clock = () => new Date(),
}: SweeperDependencies): Promise<void> {
  const em = orm.em.fork();
  const before = new Date(clock().getTime() - STRANDED_AFTER_MS);
  for (const job of await findStrandedJobs(em, before)) {
    await attempt(logger, { jobId: job.id }, async () => {
      await startRunJob(temporal, job, endpointBySlug(job.endpoint));
      await markWorkflowStarted(em, job.id);
    });
  }
  for (const delivery of await findStrandedDeliveries(em, before)) {
    await attempt(logger, { deliveryId: delivery.id }, async () => {
      await startDeliverWebhook(temporal, delivery);
      await markDeliveryStarted(em, delivery.id);
    });
  }
}

/** One that cannot be started must not keep those behind it from theirs. */
async function attempt(logger: Logger, subject: Record<string, string>, start: () => Promise<void>): Promise<void> {
  try {
    await start();
    // Also of a job that merely waits: starting its workflow again changed nothing.
    logger.debug(subject, 'stranded: workflow runs');
  } catch (err) {
    // Temporal is away: each of those behind would wait for it as long.
    if (isGrpcServiceError(err) && AWAY.has(err.code)) throw err;
    logger.warn({ ...subject, err }, 'stranded: workflow not started; the next pass tries again');
  }
}

/** One pass over what has expired, and over stored objects whose request never came to its commit. */
export async function sweepStorage({
  orm,
  store,
  logger,
  clock = () => new Date(),
}: SweeperDependencies): Promise<void> {
  const em = orm.em.fork();
  await deleteExpiredIdempotencyClaims(em);
  const jobs = await deleteLeftStageOutcomes(em, new Date(clock().getTime() - STRANDED_AFTER_MS));
  if (jobs > 0) logger.info({ jobs }, 'what stages of ended jobs had found was removed');
  for (const key of await deleteExpiredUploads(em)) await store.remove(key);

  const artefactsBefore = new Date(clock().getTime() - ARTEFACT_LIFETIME_MS);
  for await (const { key, modifiedAt } of store.list('artefacts')) {
    if (modifiedAt < artefactsBefore) await store.remove(key);
  }

  const before = new Date(clock().getTime() - ORPHANED_AFTER_MS);
  for await (const { key, modifiedAt } of store.list(PARTIAL_PREFIX)) {
    if (modifiedAt < before) await store.remove(key);
  }
  for (const table of ['jobs', 'uploads'] as const) {
    const keysByOwner = new Map<string, string[]>();
    for await (const { key, modifiedAt } of store.list(table)) {
      const owner = ownerOf(key);
      if (modifiedAt < before) keysByOwner.set(owner, [...(keysByOwner.get(owner) ?? []), key]);
    }
    for (const owner of await findUnknownOwners(em, table, [...keysByOwner.keys()])) {
      for (const key of keysByOwner.get(owner) ?? []) await store.remove(key);
      logger.info({ owner }, 'orphaned objects removed');
    }
  }
}

/** One pass over what inference workers have announced: live mode takes no job that nobody can run. */
export async function sweepAnnouncements({ orm, logger }: SweeperDependencies): Promise<void> {
  const endpoints = await withdrawStaleEndpoints(orm.em.fork());
  if (endpoints.length === 0) return;
  logger.warn({ endpoints }, 'endpoints withdrawn: no worker with their models runs any more');
  await rememberWithdrawnEndpoints(orm.em.fork(), endpoints);
}

/** Sweeps until it is stopped. A pass that fails is logged; the next one tries again. */
export function startSweeper(dependencies: SweeperDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const repeat = async (sweep: typeof sweepOutbox, intervalMs: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sweep(dependencies).catch((err: unknown) => dependencies.logger.warn({ err }, `${sweep.name} failed`));
      await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const { retentionDays } = dependencies;
  const sweepRetention =
    retentionDays && createRetentionSweep({ ...dependencies, retentionDays, signal: stopping.signal });
  const running = Promise.all([
    repeat(sweepOutbox, INTERVAL_MS),
    repeat(sweepStorage, STORAGE_INTERVAL_MS),
    repeat(sweepCredits, CREDITS_INTERVAL_MS),
    repeat(sweepAnnouncements, ANNOUNCEMENTS_INTERVAL_MS),
    ...(sweepRetention ? [repeat(sweepRetention, RETENTION_INTERVAL_MS)] : []),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
