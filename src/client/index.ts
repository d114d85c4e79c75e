export { type ClientOptions, type SubmitOptions, VehicleInferenceClient, type WaitOptions } from './client.ts';
export { ApiError, ConnectionError, JobFailedError, WaitTimeoutError } from './errors.ts';
export type {
  EndpointInput,
  EndpointParameters,
  EndpointResult,
  EndpointSlug,
  FileSource,
  Job,
  Upload,
  WebhookEvent,
} from './types.ts';
export { verifyWebhook, WebhookVerificationError } from './webhooks.ts';
