import { ApplicationFailure, Context } from '@temporalio/activity';
import { outcomeOfFailure } from '../jobs/inference-failure.ts';
import { savePendingOutcome } from '../jobs/pending-outcomes-store.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { throughOutages } from './through-outages.ts';

/**
 * Leaves the outcome of a failure that ends the job. Throws what Temporal is to retry: a cancellation, an unforeseen error,
 * and, under its code, a failure that another attempt may mend.
 */
export async function failOrRetry(
  em: EntityManager,
  jobId: string,
  error: unknown,
  isLastAttempt: boolean,
): Promise<void> {
  if (Context.current().cancellationSignal.aborted || !(error instanceof ServiceError)) throw error;
  const outcome = outcomeOfFailure(error, isLastAttempt);
  if (!outcome) throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
  await throughOutages(() => savePendingOutcome(em, jobId, outcome));
}
