/**
 * Workers of one queue may differ in models and in load. An activity hands its job back when its worker lacks the model, or
 * has no free process for it.
 */

/** The workflow schedules the activity again, for another worker or for later. */
export interface HandedBack {
  /** Missing in results of earlier releases. */
  kind?: 'handed_back';
  /** Named as in recorded histories; workflows of earlier releases look for it. */
  isPassedOn: true;
  /** Attempts that failed or were lost before this one. This one does not count. */
  usedAttempts: number;
  /** The worker has the model but no free process, and may have one in a moment. */
  isBusy?: true;
}

export function isHandedBack(answer: unknown): answer is HandedBack {
  return typeof answer === 'object' && answer !== null && 'isPassedOn' in answer;
}
