/**
 * Replaces `src/workers/sweeper.ts`: the same passes, but what the service keeps for days goes after ten minutes, so that an hour
 * shows whether deletion keeps up.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { query } from '../../src/platform/database/orm.ts';
import { sweepMonths, sweepUsage } from '../../src/workers/sweep-credits.ts';
import { createRetentionSweep } from '../../src/workers/sweep-retention.ts';
import { sweepStoredFiles } from '../../src/workers/sweep-stored-files.ts';
import * as original from '../../src/workers/sweeper.ts';

const KEPT_MS = 10 * 60_000;
const INTERVAL_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
const KEPT_DAYS = KEPT_MS / DAY_MS;
/** A result is forgotten two days late at most (`LONGEST_JOB_MS`), so that pass sees the clock of the day after tomorrow. */
const LATE_DAYS = 2;
/** How long the service leaves a file alone whose request never committed. */
const ORPHANED_AFTER_MS = 60 * 60_000;
const CLAIMS_KEPT_MS = DAY_MS;

export function startSweeper(options: original.SweeperDependencies): { stop(): Promise<void> } {
  const { retentionDays: _, ...usual } = options;
  const sweeper = original.startSweeper(usual);
  const stopping = new AbortController();
  const dependencies = { ...usual, signal: stopping.signal };
  const later = (milliseconds: number) => () => new Date(Date.now() + milliseconds);
  const sweepRetention = createRetentionSweep({
    ...dependencies,
    retentionDays: { inputs: LATE_DAYS + KEPT_DAYS, results: KEPT_DAYS, events: LATE_DAYS + KEPT_DAYS },
    clock: later(LATE_DAYS * DAY_MS),
  });
  const ageClaims = () =>
    query(
      dependencies.orm.em.fork(),
      `update idempotency_claims set expires_at = now()
       where in_progress_until is null and expires_at > now() and expires_at < now() + $1 * interval '1 millisecond'`,
      [CLAIMS_KEPT_MS - KEPT_MS],
    );
  const passes = [
    sweepRetention,
    ageClaims,
    () => original.sweepClaims(dependencies),
    () => original.sweepStageOutcomes(dependencies),
    () => original.sweepUploads(dependencies),
    () => sweepStoredFiles({ ...dependencies, clock: later(ORPHANED_AFTER_MS - KEPT_MS) }),
    () => sweepMonths(dependencies),
    () => sweepUsage(dependencies),
  ];
  const repeat = async () => {
    while (!stopping.signal.aborted) {
      for (const pass of passes) {
        await pass().catch((err: unknown) => dependencies.logger.error({ err }, 'hasty sweep failed'));
      }
      await delay(INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = repeat();
  return {
    async stop() {
      stopping.abort();
      await Promise.all([sweeper.stop(), running]);
    },
  };
}
