/** The stages of a job that runs in several steps. */
import type { EndpointContract, ValidRequest } from '../contracts/endpoint-contract.ts';
import { type JobStage, type JobStatus, TERMINAL_JOB_STATUSES } from '../contracts/job.ts';

/** The stages of a job that was just admitted, each with what is held for it; null where the endpoint has none. */
export function queuedStages(
  { stages, stagePrices }: Pick<EndpointContract, 'stages' | 'stagePrices'>,
  request: ValidRequest,
): JobStage[] | null {
  if (!stages) return null;
  const prices = stagePrices?.(request);
  return stages.map((name) => ({
    name,
    status: !prices || Object.hasOwn(prices, name) ? 'queued' : 'skipped',
    progress: 0,
    started_at: null,
    completed_at: null,
    credits: { reserved: prices?.[name] ?? 0, charged: 0 },
    error: null,
  }));
}

/** The stages as they are shown: in a job that has ended none waits or goes on. */
export function shownStages(stages: readonly JobStage[], status: JobStatus): JobStage[] {
  const hasEnded = (TERMINAL_JOB_STATUSES as readonly JobStatus[]).includes(status);
  return stages.map((stage) => (hasEnded ? { ...stage, status: ENDS[stage.status] ?? stage.status } : stage));
}

const ENDS: Partial<Record<JobStage['status'], JobStage['status']>> = { queued: 'skipped', processing: 'failed' };
