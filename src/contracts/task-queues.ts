/** Temporal task queues, one per kind of worker. */
export const TASK_QUEUES = {
  /** Workflows, settlement, expiry, records. Needs only PostgreSQL. */
  orchestration: 'orchestration',
  /** Decode → model → result of single pictures. Needs the models and, in production, a GPU. */
  inferenceGpu: 'inference-gpu',
  /** Video, 360° spins and diffusion-class renders: they take minutes. */
  inferenceHeavy: 'inference-heavy',
  /** Test-mode jobs. They wait where a model would compute, and must not delay live jobs. */
  inferenceTest: 'inference-test',
  /** Jobs that have ended, again, on a release that is tried. A queue of its own: it may fall behind, and live jobs may not. */
  inferenceShadow: 'inference-shadow',
  /** Valuations from price books. Like orchestration it needs only PostgreSQL, and the same workers poll it. */
  valuation: 'valuation',
  /** Signed webhook deliveries. Only these workers connect to addresses chosen by customers. */
  webhooks: 'webhooks',
} as const;

export type InferenceTaskQueue =
  | typeof TASK_QUEUES.inferenceGpu
  | typeof TASK_QUEUES.inferenceHeavy
  | typeof TASK_QUEUES.inferenceTest
  | typeof TASK_QUEUES.valuation;
