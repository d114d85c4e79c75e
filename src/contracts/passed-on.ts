/** Workers of one queue need not have the same models: what an activity answers that landed on one which lacks the model. */

/** Another worker has announced what this one lacks: the workflow is to schedule the activity again. */
export interface PassedOn {
  isPassedOn: true;
  /** Attempts that failed or were lost before this one, which does not count. */
  usedAttempts: number;
}

export function isPassedOn(answer: unknown): answer is PassedOn {
  return typeof answer === 'object' && answer !== null && 'isPassedOn' in answer;
}
