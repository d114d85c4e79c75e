/** The least that Temporal can do for a job: one workflow with one activity. */
import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './bare.ts';

const { doNothing } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute' });

export async function bareWorkflow(): Promise<void> {
  await doNothing();
}
