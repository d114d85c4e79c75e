/** What is answered to bytes that are no HTTP request: the error body, as everywhere else. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { newId } from '../domain/ids.ts';
import { API_VERSION } from '../domain/job-event.ts';
import { ServiceError } from '../domain/service-error.ts';
import { renderError } from './middleware/errors.ts';

/** By the code of Node's HTTP parser. Anything else is a 400. */
const REASONS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The address and the headers may have 16 KB together.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The extensions of the chunks of the body are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

const NOT_HTTP = { status: 400, message: 'This is no HTTP/1.1 request: its first line or a header is malformed.' };

/** Answers `malformed_request`, with the status that HTTP has for the reason, and ends the connection. */
export function refuseUnparsed({ publicBaseUrl, logger }: { publicBaseUrl: string; logger: Logger }) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { status, message } = REASONS[error.code ?? ''] ?? NOT_HTTP;
    const requestId = newId('request');
    // Not the error itself: it holds the bytes that were sent, and they may hold a key.
    logger.info({ requestId, status, code: 'malformed_request', reason: error.code }, 'request not parsed');
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
