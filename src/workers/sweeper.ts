/** Recovers from crashes: starts committed work that does not run, and removes objects without an owner. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import { endpointBySlug } from '../endpoints/list.ts';
import { deleteExpiredIdempotencyClaims } from '../jobs/idempotency-claims-store.ts';
import { withdrawStaleEndpoints } from '../jobs/installed-endpoints-store.ts';
import { startRunJob } from '../jobs/job-starter.ts';
import {
  CLAIM_BATCH,
  claimStrandedJobs,
  markWorkflowStarted,
  releaseStrandedJobs,
  type StrandedJob,
  setJobAside,
} from '../jobs/outbox-store.ts';
import { deleteLeftStageOutcomes } from '../jobs/stage-outcomes-store.ts';
import { rememberWithdrawnEndpoints } from '../jobs/withdrawn-endpoints-store.ts';
import { inBatches } from '../platform/database/in-batches.ts';
import type { EntityManager, MikroORM } from '../platform/database/orm.ts';
import type { ObjectStore } from '../platform/storage/object-store.ts';
import { deleteExpiredUploads } from '../uploads/uploads-store.ts';
import { startDeliverWebhook } from '../webhooks/delivery-starter.ts';
import { findStrandedDeliveries, markDeliveryStarted } from '../webhooks/outbox-store.ts';
import { createRemover } from './past-failures.ts';
import { sweepCredits, sweepMonths, sweepUsage } from './sweep-credits.ts';
import { createRetentionSweep, type RetentionDays } from './sweep-retention.ts';
import { sweepStoredFiles } from './sweep-stored-files.ts';

/** By then the process that committed a row has started its workflow, or has died. */
const STRANDED_AFTER_MS = 10_000;
const INTERVAL_MS = 5_000;
/** Batches of jobs in one pass; the next pass continues. */
const JOB_BATCHES_AT_MOST = 20;
const STARTS_AT_ONCE = 10;
/** gRPC: DEADLINE_EXCEEDED and UNAVAILABLE. */
const AWAY: ReadonlySet<number> = new Set([4, 14]);
const STORAGE_INTERVAL_MS = 10 * 60_000;
const CREDITS_INTERVAL_MS = 10_000;
const CLOSING_INTERVAL_MS = 60 * 60_000;
const RETENTION_INTERVAL_MS = 60 * 60_000;
const ANNOUNCEMENTS_INTERVAL_MS = 10_000;

export interface SweeperDependencies {
  orm: MikroORM;
  temporal: Client;
  store: ObjectStore;
  logger: Logger;
  /** Without it, no data is deleted for its age. */
  retentionDays?: RetentionDays;
  clock?: () => Date;
  /** Ends a long pass early. */
  signal?: AbortSignal;
}

/**
 * One pass over jobs and deliveries. Replicas share the jobs by claiming them. Starting a running workflow changes nothing.
 */
export async function sweepOutbox({
  orm,
  temporal,
  logger,
  clock = () => new Date(),
}: SweeperDependencies): Promise<void> {
  const em = orm.em.fork();
  const now = clock();
  const before = new Date(now.getTime() - STRANDED_AFTER_MS);
  for (let batches = 0; batches < JOB_BATCHES_AT_MOST; batches += 1) {
    const jobs = await claimStrandedJobs(em, before);
    await startJobs({ em, temporal, logger }, jobs);
    if (jobs.length < CLAIM_BATCH) break;
  }
  for (const delivery of await findStrandedDeliveries(em, { committedBefore: before, now })) {
    await attempt(logger, { deliveryId: delivery.id }, async () => {
      await startDeliverWebhook(temporal, delivery);
      await markDeliveryStarted(em, delivery.id);
    });
  }
}

/** Starts the workflows of claimed jobs, some at a time. @throws when Temporal is away; the rest is then given back */
async function startJobs(
  { em, temporal, logger }: { em: EntityManager; temporal: Client; logger: Logger },
  jobs: readonly StrandedJob[],
): Promise<void> {
  const waiting = [...jobs];
  const unsettled = new Set(jobs.map(({ id }) => id));
  const startOneByOne = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      try {
        await startRunJob(temporal, job, endpointBySlug(job.endpoint));
      } catch (err) {
        if (isAway(err)) {
          // Each of the others would wait for Temporal as long.
          waiting.length = 0;
          throw err;
        }
        await setJobAside(em, job.id, err instanceof Error ? err.message : String(err));
        unsettled.delete(job.id);
        logger.warn({ jobId: job.id, endpoint: job.endpoint, err }, 'stranded: workflow not started; set aside');
        continue;
      }
      await markWorkflowStarted(em, job.id);
      unsettled.delete(job.id);
      // A job that merely waits is logged too: starting its workflow again changed nothing.
      logger.debug({ jobId: job.id }, 'stranded: workflow runs');
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: STARTS_AT_ONCE }, startOneByOne));
  const failed = lanes.find((lane) => lane.status === 'rejected');
  if (!failed) return;
  await releaseStrandedJobs(em, [...unsettled]);
  throw failed.reason;
}

/** The client wraps what a call met in an error of its own. */
const isAway = (error: unknown): boolean =>
  isGrpcServiceError(error) ? AWAY.has(error.code) : error instanceof Error && isAway(error.cause);

/** A row that cannot be started must not block those behind it. */
async function attempt(logger: Logger, subject: Record<string, string>, start: () => Promise<void>): Promise<void> {
  try {
    await start();
    // Also logged for a job that merely waits: starting its workflow again changed nothing.
    logger.debug(subject, 'stranded: workflow runs');
  } catch (err) {
    // Temporal is away: each further row would wait as long.
    if (isAway(err)) throw err;
    logger.warn({ ...subject, err }, 'stranded: workflow not started; the next pass tries again');
  }
}

/** One pass over expired claims. Returns whether there is more to do. */
export async function sweepClaims({ orm, signal }: Pick<SweeperDependencies, 'orm' | 'signal'>): Promise<boolean> {
  const { hasMore } = await inBatches(() => deleteExpiredIdempotencyClaims(orm.em.fork()), signal);
  return hasMore;
}

/** One pass over stage outcomes that ended jobs left. Returns whether there is more to do. */
export async function sweepStageOutcomes({
  orm,
  logger,
  clock = () => new Date(),
  signal,
}: SweeperDependencies): Promise<boolean> {
  const endedBefore = new Date(clock().getTime() - STRANDED_AFTER_MS);
  const { rows: jobs, hasMore } = await inBatches(() => deleteLeftStageOutcomes(orm.em.fork(), endedBefore), signal);
  if (jobs > 0) logger.info({ jobs }, 'stage outcomes of ended jobs removed');
  return hasMore;
}

/** One pass over uploads that no job used in time. Returns whether there is more to do. */
export async function sweepUploads({ orm, store, logger, signal }: SweeperDependencies): Promise<boolean> {
  const remover = createRemover(store);
  try {
    const { hasMore } = await inBatches(async () => {
      const { storageKeys, ...batch } = await deleteExpiredUploads(orm.em.fork());
      // A file that stays has no owner any more: the sweep of stored files tries again.
      await remover.remove(storageKeys);
      return batch;
    }, signal);
    return hasMore;
  } finally {
    remover.logFailures(logger);
  }
}

/** One pass over the announcements of inference workers: live mode accepts no job that nobody can run. */
export async function sweepAnnouncements({ orm, logger }: SweeperDependencies): Promise<void> {
  const endpoints = await withdrawStaleEndpoints(orm.em.fork());
  if (endpoints.length === 0) return;
  logger.warn({ endpoints }, 'endpoints withdrawn: no worker with their models runs any more');
  await rememberWithdrawnEndpoints(orm.em.fork(), endpoints);
}

/** Sweeps until it is stopped. A failed pass is logged; the next one tries again. One that has more to do continues at once. */
export function startSweeper(options: SweeperDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const dependencies = { ...options, signal: stopping.signal };
  const repeat = async (
    sweep: (options: SweeperDependencies) => Promise<unknown>,
    intervalMs: number,
  ): Promise<void> => {
    while (!stopping.signal.aborted) {
      const hasMore = await sweep(dependencies).catch((err: unknown) =>
        dependencies.logger.warn({ err }, `${sweep.name} failed`),
      );
      if (hasMore === true) continue;
      await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const { retentionDays } = dependencies;
  const sweepRetention = retentionDays && createRetentionSweep({ ...dependencies, retentionDays });
  const running = Promise.all([
    repeat(sweepOutbox, INTERVAL_MS),
    repeat(sweepClaims, STORAGE_INTERVAL_MS),
    repeat(sweepStageOutcomes, STORAGE_INTERVAL_MS),
    repeat(sweepUploads, STORAGE_INTERVAL_MS),
    repeat(sweepStoredFiles, STORAGE_INTERVAL_MS),
    repeat(sweepCredits, CREDITS_INTERVAL_MS),
    repeat(sweepMonths, CLOSING_INTERVAL_MS),
    repeat(sweepUsage, CLOSING_INTERVAL_MS),
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
