import type { Logger } from 'pino';
import { ERRORS } from '../../contracts/error-codes.ts';
import { isConnectionLoss } from '../../db/connection-loss.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

interface ErrorOptions {
  publicBaseUrl: string;
  logger: Logger;
}

/** Turns whatever is thrown into the one error body. What is not a ServiceError is logged and says nothing outside. */
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
      // As HTTP asks of a 401: how to authenticate.
      if (status === 401) {
        context.set('WWW-Authenticate', 'Bearer');
        // Whose limit it would be, is not known.
        context.remove('Concurrency-Limit');
      }
      context.set(error.headers);
      context.body = renderError(error, publicBaseUrl, context.state.requestId);
    }
  };
}

/** The one error body. */
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
      ? 'The reference at /docs lists the operations of the management API.'
      : 'GET /v1/endpoints lists the endpoints, and /docs everything.';
    throw new ServiceError('resource_not_found', `There is no ${path}. ${reference}`);
  }
  if (status === 405 || status === 501) {
    throw new ServiceError(
      'method_not_allowed',
      `This path does not take ${method}. The header Allow names what it takes.`,
    );
  }
}

function asServiceError(thrown: unknown, context: ApiContext, logger: Logger): ServiceError {
  const requestId = context.state.requestId;
  if (isPassing(thrown)) {
    logger.warn({ requestId, err: thrown }, 'database unavailable');
    return new ServiceError(
      'service_unavailable',
      'The service cannot take requests right now. Repeat this one later.',
      {
        headers: { 'Retry-After': '2' },
      },
    );
  }
  logger.error({ requestId, err: thrown }, 'unexpected error');
  return new ServiceError(
    'internal_error',
    'Something went wrong on our side. Repeat the request; quote its Request-Id.',
  );
}

/** A full disk too: what it refuses now it may take later. */
function isPassing(thrown: unknown): boolean {
  return isConnectionLoss(thrown) || isFullDisk(thrown);
}

function isFullDisk(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return (thrown as NodeJS.ErrnoException).code === 'ENOSPC' || isFullDisk(thrown.cause);
}
