/** Returns the error body for bytes that Node's HTTP parser rejects. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { API_VERSION } from '../contracts/api-version.ts';
import { newId } from '../platform/ids.ts';
import { ServiceError } from '../platform/service-error.ts';
import { renderError } from './middleware/errors.ts';

/** By parser error code. Any other code is a 400. */
const REASONS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and the headers exceed 16 KB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions of the body are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

const NOT_HTTP = { status: 400, message: 'Not a valid HTTP/1.1 request: the request line or a header is malformed.' };

/** Responds `malformed_request` with the HTTP status that fits the reason, and closes the connection. */
export function refuseUnparsed({ publicBaseUrl, logger }: { publicBaseUrl: string; logger: Logger }) {
  return (reason: string | undefined, socket: Duplex): void => {
    const { status, message } = REASONS[reason ?? ''] ?? NOT_HTTP;
    const requestId = newId('request');
    logger.info({ requestId, status, code: 'malformed_request', reason }, 'request not parsed');
    const body = JSON.stringify(renderError(new ServiceError('malformed_request', message), publicBaseUrl, requestId));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Request-Id: ${requestId}`,
      `Service-Version: ${API_VERSION}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  };
}
