/** Metrics of Temporal's SDK that alerts and dashboard use, with their labels. */
export const SDK_METRICS: Readonly<Record<string, readonly string[]>> = {
  temporal_worker_task_slots_available: ['worker_type', 'task_queue'],
  temporal_activity_schedule_to_start_latency_seconds_bucket: ['task_queue'],
  temporal_workflow_task_schedule_to_start_latency_seconds_bucket: ['task_queue'],
};
