/** Follows jobs for any number of listeners: however many follow a job, it is read once a second in this process. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { MikroORM } from '../platform/database/orm.ts';
import { readFollowedJobs } from './followed-jobs-store.ts';
import { type JobRecord, renderJob } from './job-resource.ts';
import { isTerminal } from './job-states.ts';
import type { SettlementListener } from './settlement-listener.ts';

export interface FollowedJob {
  status: JobRecord['status'];
  isEnded: boolean;
  /** JSON of the Job. The same string until the job changes. */
  json: string;
}

export interface JobFollower {
  /**
   * Calls `listener` with the job whenever it is read, changed or not, until the returned function is called or the job
   * has ended. The caller has read the job before.
   */
  follow(jobId: string, listener: (job: FollowedJob) => void): () => void;
  close(): void;
}

interface FollowerDependencies {
  orm: MikroORM;
  settlements: SettlementListener;
  logger: Logger;
  /** How soon a change that is not a settlement is seen. */
  pollIntervalMs?: number;
}

interface Followed {
  listeners: Set<(job: FollowedJob) => void>;
  /** Ends the waiting for its settlement. */
  stopped: AbortController;
  last: FollowedJob | null;
}

const POLL_INTERVAL_MS = 1_000;
const JOBS_PER_STATEMENT = 500;
/** Listeners called before other requests of the process get their turn. */
const LISTENERS_AT_ONCE = 100;

export function renderFollowedJob(job: JobRecord): FollowedJob {
  const { status } = job;
  return { status, isEnded: isTerminal(status), json: JSON.stringify(renderJob(job)) };
}

export function createJobFollower(dependencies: FollowerDependencies): JobFollower {
  const { orm, settlements, logger, pollIntervalMs = POLL_INTERVAL_MS } = dependencies;
  const followed = new Map<string, Followed>();
  const due = new Set<string>();
  let isReading = false;
  let timer: NodeJS.Timeout | undefined;

  return {
    follow(jobId, listener) {
      const entry = followed.get(jobId) ?? begin(jobId);
      entry.listeners.add(listener);
      return () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size === 0) end(jobId, entry);
      };
    },
    close() {
      for (const [jobId, entry] of followed) end(jobId, entry);
    },
  };

  function begin(jobId: string): Followed {
    const entry: Followed = { listeners: new Set(), stopped: new AbortController(), last: null };
    followed.set(jobId, entry);
    timer ??= setInterval(() => read(followed.keys()), pollIntervalMs).unref();
    void readOnSettlement(jobId, entry.stopped.signal);
    // The job may have changed since the caller read it.
    read([jobId]);
    return entry;
  }

  function end(jobId: string, entry: Followed): void {
    entry.stopped.abort('no longer followed');
    if (followed.get(jobId) === entry) followed.delete(jobId);
    if (followed.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  async function readOnSettlement(jobId: string, signal: AbortSignal): Promise<void> {
    while (await settlements.settled(jobId, signal)) read([jobId]);
  }

  function read(jobIds: Iterable<string>): void {
    for (const jobId of jobIds) due.add(jobId);
    if (isReading) return;
    isReading = true;
    readDue()
      // The next poll tries again.
      .catch((err: unknown) => logger.warn({ err }, 'followed jobs not read'))
      .finally(() => {
        isReading = false;
      });
  }

  async function readDue(): Promise<void> {
    while (due.size > 0) {
      const jobIds = [...due].filter((jobId) => followed.has(jobId)).slice(0, JOBS_PER_STATEMENT);
      if (jobIds.length === 0) return due.clear();
      for (const jobId of jobIds) due.delete(jobId);
      for (const job of await readFollowedJobs(orm.em.fork(), jobIds)) {
        const entry = followed.get(job.id);
        if (entry) await publish(entry, job);
      }
    }
  }

  async function publish(entry: Followed, job: JobRecord): Promise<void> {
    const read = renderFollowedJob(job);
    const last = entry.last?.json === read.json ? entry.last : read;
    entry.last = last;
    let called = 0;
    // A listener that joins meanwhile is visited too: none is left waiting for a job that has ended.
    for (const listener of entry.listeners) {
      listener(last);
      called += 1;
      if (called % LISTENERS_AT_ONCE === 0) await yieldToOthers();
    }
    if (last.isEnded) end(job.id, entry);
  }
}
