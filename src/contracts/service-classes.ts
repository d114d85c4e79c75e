/** Defaults of three kinds of endpoint. An endpoint spreads one and overrides its own values. */
import { TASK_QUEUES } from './task-queues.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Results within seconds: readings, detections, prices. */
export const FAST = {
  acceptsWait: true,
  inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
  rateLimitPerMinute: 600,
  expiryMs: 10 * MINUTE_MS,
  inferenceTimeoutMs: MINUTE_MS,
} as const;

/** Renders: one picture from one picture. */
export const RENDER = {
  acceptsWait: true,
  inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
  rateLimitPerMinute: 120,
  expiryMs: HOUR_MS,
  inferenceTimeoutMs: 5 * MINUTE_MS,
} as const;

/** Video, 360° spins and bundles: they take minutes, so `wait` is refused. */
export const LONG = {
  acceptsWait: false,
  inferenceTaskQueue: TASK_QUEUES.inferenceHeavy,
  rateLimitPerMinute: 30,
  expiryMs: 6 * HOUR_MS,
  inferenceTimeoutMs: HOUR_MS,
} as const;
