/** The metrics are correct, follow Prometheus's naming conventions, and have bounded labels. */

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { DeliveryActivities } from '../../src/contracts/deliver-webhook.ts';
import { createMetrics, type SettledJob } from '../../src/observability/metrics.ts';
import { observeDeliveries } from '../../src/observability/observed-deliveries.ts';
import { observeSettlements } from '../../src/observability/observed-settlements.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);

const JOB: SettledJob = {
  endpoint: 'dashboard.read',
  livemode: true,
  status: 'succeeded',
  createdAt: at(0),
  startedAt: at(2),
  completedAt: at(5.25),
};

const linesOf = async (use: (metrics: ReturnType<typeof createMetrics>) => void) => {
  const metrics = createMetrics();
  use(metrics);
  return (await metrics.registry.metrics()).split('\n');
};

describe('a settled job', () => {
  it('a settled job is counted by status, with its queue time and total time', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled(JOB));
    expect(lines).toEqual(
      expect.arrayContaining([
        'vehicle_inference_jobs_settled_total{endpoint="dashboard.read",mode="live",status="succeeded"} 1',
        'vehicle_inference_job_queue_seconds_sum{endpoint="dashboard.read",mode="live"} 2',
        'vehicle_inference_job_duration_seconds_sum{endpoint="dashboard.read",mode="live",status="succeeded"} 5.25',
      ]),
    );
  });

  it('a settled job that nobody picked up has no queue time', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled({ ...JOB, status: 'expired', startedAt: null }));
    expect(lines.filter((line) => line.startsWith('vehicle_inference_job_queue_seconds_count'))).toEqual([]);
  });

  it('a settled job has a time for its inference and its settlement, to the millisecond', async () => {
    const lines = await linesOf((metrics) => {
      const settled = observeSettlements(metrics, pino({ enabled: false }), () => at(5.375));
      settled({ ...JOB, id: 'job_1', organizationId: 'org_1' });
    });
    const labels = 'endpoint="dashboard.read",mode="live"';
    expect(lines.filter((line) => line.startsWith('vehicle_inference_stage_duration_seconds_sum'))).toEqual([
      `vehicle_inference_stage_duration_seconds_sum{${labels},stage="inference",status="succeeded"} 3.25`,
      `vehicle_inference_stage_duration_seconds_sum{${labels},stage="settlement",status="succeeded"} 0.125`,
    ]);
  });

  it('a settled job never has a negative duration, whatever the clocks say', async () => {
    const lines = await linesOf((metrics) => metrics.jobSettled({ ...JOB, startedAt: at(-1) }));
    expect(lines).toContain('vehicle_inference_job_queue_seconds_sum{endpoint="dashboard.read",mode="live"} 0');
  });
});

it('a stage of a bundle has a queue time and a total time, by name', async () => {
  const stage = { endpoint: 'vehicle.analyze', livemode: false, stage: 'damage.detect' };
  const lines = await linesOf((metrics) => {
    metrics.stagePickedUp({ ...stage, queuedMs: 40 });
    metrics.stagePickedUp({ ...stage, queuedMs: -3 });
    metrics.stageEnded({ ...stage, status: 'failed', durationMs: 1_500 });
  });
  const labels = 'endpoint="vehicle.analyze",mode="test",stage="damage.detect"';
  expect(lines).toEqual(
    expect.arrayContaining([
      `vehicle_inference_stage_queue_seconds_sum{${labels}} 0.04`,
      `vehicle_inference_stage_queue_seconds_count{${labels}} 2`,
      `vehicle_inference_stage_duration_seconds_sum{${labels},status="failed"} 1.5`,
    ]),
  );
});

it('a skipped attempt of a delivery does not count as a failed one', async () => {
  const metrics = createMetrics();
  const attempt = { deliveryId: 'whd_1', attempt: 1, lastAttempt: false, hasWaited: false } as never;
  for (const answer of [
    { outcome: 'retry', retryAfterMs: null, isSent: true },
    { outcome: 'retry', retryAfterMs: null, isSent: false },
    { outcome: 'stop', retryAfterMs: null, isSent: false },
    { outcome: 'wait', retryAfterMs: 10, isSent: false },
  ] as const) {
    const activities: DeliveryActivities = { attemptDelivery: async () => answer };
    await observeDeliveries(activities, metrics).attemptDelivery(attempt);
  }
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines.filter((line) => line.startsWith('vehicle_inference_webhook_attempts_total'))).toEqual([
    'vehicle_inference_webhook_attempts_total{outcome="retry"} 1',
    'vehicle_inference_webhook_attempts_total{outcome="left_out"} 2',
    'vehicle_inference_webhook_attempts_total{outcome="wait"} 1',
  ]);
});

it('the names of metrics end in their unit, and those of counters in _total', async () => {
  const metrics = await createMetrics().registry.getMetricsAsJSON();
  expect(metrics.length).toBeGreaterThan(8);
  for (const { name, type } of metrics) {
    expect(name).toMatch(/^vehicle_inference_[a-z_]+$/);
    expect([name, String(type)]).toEqual([name, name.endsWith('_total') ? 'counter' : 'histogram']);
    if (name.endsWith('_total')) continue;
    expect(name).toMatch(/_(?:seconds|samples)$/);
  }
});
