import { hash } from 'node:crypto';

/** Whether a job belongs to a share of all jobs: the same jobs on every machine, and those of a smaller share among them. */
export function isSampled(jobId: string, sharePercent: number): boolean {
  return hash('sha256', jobId, 'buffer').readUInt32BE() < (sharePercent / 100) * 2 ** 32;
}
