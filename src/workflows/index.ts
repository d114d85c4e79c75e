/** Every workflow, exported under the name that starts it. */
export { deliverWebhook } from './deliver-webhook.ts';
export { runJob } from './run-job.ts';
export { shadowJob } from './shadow-job.ts';
