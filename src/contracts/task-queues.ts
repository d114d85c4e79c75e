/** Names of the Temporal task queues, one per kind of worker. */
export const TASK_QUEUES = {
  /** Workflows, settlement, expiry, records. Needs PostgreSQL only. */
  orchestration: 'orchestration',
  /** Decode → model → result of single pictures. Needs the models and, in production, a GPU. */
  inferenceGpu: 'inference-gpu',
  /** Video, 360° spins and diffusion-class renders: minutes rather than milliseconds. */
  inferenceHeavy: 'inference-heavy',
  /** Jobs of test mode: they wait where a model would compute, and must not stand in the way of those that pay. */
  inferenceTest: 'inference-test',
  /** Signed webhook deliveries. The only workers that connect to addresses chosen by customers. */
  webhooks: 'webhooks',
} as const;

export type InferenceTaskQueue =
  | typeof TASK_QUEUES.inferenceGpu
  | typeof TASK_QUEUES.inferenceHeavy
  | typeof TASK_QUEUES.inferenceTest;
