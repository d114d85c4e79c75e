/**
 * Workers of one queue need not have the same models, or the same load: what an activity answers that landed on one which
 * lacks the model, or has no process free for it.
 */

/** The workflow is to schedule the activity again: for another worker, or for later. */
export interface PassedOn {
  isPassedOn: true;
  /** Attempts that failed or were lost before this one, which does not count. */
  usedAttempts: number;
  /** It has the model, and no process free: it may well have one in a moment. */
  isBusy?: true;
}

export function isPassedOn(answer: unknown): answer is PassedOn {
  return typeof answer === 'object' && answer !== null && 'isPassedOn' in answer;
}
