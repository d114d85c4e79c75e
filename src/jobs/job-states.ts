import { type JobStatus, TERMINAL_JOB_STATUSES, type TerminalJobStatus } from '../contracts/job.ts';

export function isTerminal(status: JobStatus): status is TerminalJobStatus {
  return TERMINAL_JOB_STATUSES.some((terminal) => terminal === status);
}
