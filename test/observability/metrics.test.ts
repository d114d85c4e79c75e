/** The metrics say what happened, by names that Prometheus's conventions know and labels that do not grow. */
import { describe, expect, it } from '@jest/globals';
import type { JobStage } from '../../src/contracts/job.ts';
import { createMetrics, type SettledJob } from '../../src/observability/metrics.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);

const JOB: SettledJob = {
  endpoint: 'dashboard.read',
  livemode: true,
  status: 'succeeded',
  createdAt: at(0),
  startedAt: at(2),
  completedAt: at(5),
  stages: null,
};

const linesOf = async (use: (metrics: ReturnType<typeof createMetrics>) => void) => {
  const metrics = createMetrics();
  use(metrics);
  return (await metrics.registry.metrics()).split('\n');
};

describe('a settled job', () => {
  it('is counted by how it ended, with its time in the queue and in all', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled(JOB));
    expect(lines).toEqual(
      expect.arrayContaining([
        'vehicle_inference_jobs_settled_total{endpoint="dashboard.read",mode="live",status="succeeded"} 1',
        'vehicle_inference_job_queue_seconds_sum{endpoint="dashboard.read",mode="live"} 2',
        'vehicle_inference_job_duration_seconds_sum{endpoint="dashboard.read",mode="live",status="succeeded"} 5',
      ]),
    );
  });

  it('that nobody picked up has no time in the queue', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled({ ...JOB, status: 'expired', startedAt: null }));
    expect(lines.filter((line) => line.startsWith('vehicle_inference_job_queue_seconds_count'))).toEqual([]);
  });

  it('shows the time of each stage that ran', async () => {
    const stage: Omit<JobStage, 'name'> = {
      status: 'succeeded',
      progress: 1,
      started_at: 100,
      completed_at: 103,
      credits: { reserved: 1, charged: 1 },
      error: null,
    };
    const skipped = { ...stage, name: 'pricing', status: 'skipped' as const, started_at: null, completed_at: null };
    const lines = await linesOf((metrics) =>
      metrics.jobSettled({ ...JOB, stages: [{ ...stage, name: 'damage' }, skipped] }),
    );
    const sums = lines.filter((line) => line.startsWith('vehicle_inference_stage_duration_seconds_sum'));
    expect(sums).toEqual([
      'vehicle_inference_stage_duration_seconds_sum{endpoint="dashboard.read",stage="damage",status="succeeded"} 3',
    ]);
  });

  it('never took less than no time, whatever the clocks say', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled({ ...JOB, startedAt: at(-1) }));
    expect(lines).toContain('vehicle_inference_job_queue_seconds_sum{endpoint="dashboard.read",mode="live"} 0');
  });
});

it('names have the unit last, counters end in _total, and no label holds an id', async () => {
  const metrics = await createMetrics().registry.getMetricsAsJSON();
  expect(metrics.length).toBeGreaterThan(8);
  for (const { name, type } of metrics) {
    expect(name).toMatch(/^vehicle_inference_[a-z_]+$/);
    expect([name, String(type)]).toEqual([name, name.endsWith('_total') ? 'counter' : 'histogram']);
    if (name.endsWith('_total')) continue;
    expect(name).toMatch(/_seconds$/);
  }
});
