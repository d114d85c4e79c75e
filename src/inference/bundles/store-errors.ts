/** Failures of the file store in the terms of jobs. */
import { ServiceError } from '../../platform/service-error.ts';
import { ObjectNotFoundError, StoreUnavailableError } from '../../platform/storage/object-store.ts';

export function isOfStore(error: unknown): boolean {
  return error instanceof ObjectNotFoundError || error instanceof StoreUnavailableError;
}

/** @param field of the request that the file came in */
export function errorOfStore(cause: unknown, field?: string): ServiceError {
  if (cause instanceof ObjectNotFoundError) {
    const message = 'The file of this job is no longer stored. Send it again.';
    return new ServiceError('input_unreadable', message, { param: field, cause });
  }
  return new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause });
}
