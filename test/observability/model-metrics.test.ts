/** Metrics of a model: its queue time, its run time, and its batch sizes. */
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';

it('a run of a network counts once, with its samples and the wait of each of its jobs', async () => {
  const metrics = createMetrics();
  metrics.modelWaited({ modelVersion: 'tires@2026-01-01', waitMs: 250 });
  const run = { modelVersion: 'tires@2026-01-01', file: 'detector', samples: 3, waitsMs: [0, 10, 15], computeMs: 50 };
  metrics.modelRan(run);
  const lines = (await metrics.registry.metrics()).split('\n');
  const labels = 'model="tires@2026-01-01",file="detector"';
  expect(lines).toEqual(
    expect.arrayContaining([
      'vehicle_inference_model_queue_seconds_sum{model="tires@2026-01-01"} 0.25',
      `vehicle_inference_model_run_queue_seconds_sum{${labels}} 0.025`,
      `vehicle_inference_model_run_queue_seconds_count{${labels}} 3`,
      `vehicle_inference_model_run_seconds_sum{${labels}} 0.05`,
      `vehicle_inference_model_run_seconds_count{${labels}} 1`,
      `vehicle_inference_model_run_samples_sum{${labels}} 3`,
      `vehicle_inference_model_run_samples_bucket{le="2",${labels}} 0`,
      `vehicle_inference_model_run_samples_bucket{le="4",${labels}} 1`,
    ]),
  );
});
