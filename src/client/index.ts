export {
  type ClientOptions,
  type ListJobsFilter,
  type SubmitOptions,
  type UploadOptions,
  VehicleInferenceClient,
  type WaitOptions,
} from './client.ts';
export { ApiError, ConnectionError, JobFailedError, WaitTimeoutError } from './errors.ts';
export { FILE_FIELDS } from './file-fields.ts';
export * from './management.ts';
export type { ManagementOptions } from './management-base.ts';
export type {
  CreditEvent,
  DryRun,
  EndpointDescription,
  EndpointInput,
  EndpointParameters,
  EndpointResult,
  EndpointSlug,
  FileSource,
  Job,
  ListedEvent,
  Upload,
  WebhookEvent,
} from './types.ts';
export { verifyWebhook, WebhookVerificationError, type WebhookVerificationErrorCode } from './webhooks.ts';
