/** Every workflow, by the name it is started with. */
export { deliverWebhook } from './deliver-webhook.ts';
export { runJob } from './run-job.ts';
