import type { Logger } from 'pino';
import { ERRORS } from '../../contracts/error-codes.ts';
import { isConnectionLoss } from '../../platform/database/connection-loss.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { StoreUnavailableError } from '../../platform/storage/object-store.ts';
import type { ApiContext, Next } from '../context.ts';

interface ErrorOptions {
  publicBaseUrl: string;
  logger: Logger;
}

/** Renders every thrown error as the error body. Anything but a ServiceError is logged and reveals nothing to the caller. */
export function errors({ publicBaseUrl, logger }: ErrorOptions) {
  return async (context: ApiContext, next: Next): Promise<void> => {
    try {
      await next();
      if (!context.body) refuseUnrouted(context);
    } catch (thrown) {
      const error = thrown instanceof ServiceError ? thrown : asServiceError(thrown, context, logger);
      const { status } = ERRORS[error.code];
      context.state.errorCode = error.code;
      context.status = status ?? 500;
      // HTTP requires a 401 to name the authentication scheme.
      if (status === 401) {
        context.set('WWW-Authenticate', 'Bearer');
        // Unauthenticated: there is no organisation to report a limit for.
        context.remove('Concurrency-Limit');
      }
      context.set(error.headers);
      context.body = renderError(error, publicBaseUrl, context.state.requestId);
    }
  };
}

/** The error body of every refusal. */
export function renderError({ code, message, param }: ServiceError, publicBaseUrl: string, requestId: string) {
  return {
    error: {
      type: ERRORS[code].type,
      code,
      message,
      ...(param !== undefined && { param }),
      doc_url: `${publicBaseUrl}/docs/errors/${code}`,
      request_id: requestId,
    },
  };
}

function refuseUnrouted({ status, path, method }: ApiContext): void {
  if (status === 404) {
    const reference = path.startsWith('/mgmt/')
      ? 'The reference at /docs lists the management API.'
      : 'GET /v1/endpoints lists the endpoints; /docs is the reference.';
    throw new ServiceError('resource_not_found', `No such path: ${path}. ${reference}`);
  }
  if (status === 405 || status === 501) {
    throw new ServiceError(
      'method_not_allowed',
      `This path does not support ${method}. The Allow header lists the methods it supports.`,
    );
  }
}

function asServiceError(thrown: unknown, context: ApiContext, logger: Logger): ServiceError {
  const requestId = context.state.requestId;
  if (isTransient(thrown)) {
    logger.warn({ requestId, err: thrown }, isOfStore(thrown) ? 'file store unavailable' : 'database unavailable');
    return new ServiceError('service_unavailable', 'The service is temporarily unavailable. Retry later.', {
      headers: { 'Retry-After': '2' },
    });
  }
  logger.error({ requestId, err: thrown }, 'unexpected error');
  return new ServiceError(
    'internal_error',
    'An internal error occurred. Retry the request; if it fails again, contact support with its Request-Id.',
  );
}

function isTransient(thrown: unknown): boolean {
  return isConnectionLoss(thrown) || isOfStore(thrown);
}

/** A store that refuses the service is mended by its operator, not by the caller. A full disk may have room later. */
function isOfStore(thrown: unknown): boolean {
  return thrown instanceof StoreUnavailableError || isFullDisk(thrown);
}

function isFullDisk(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return (thrown as NodeJS.ErrnoException).code === 'ENOSPC' || isFullDisk(thrown.cause);
}
