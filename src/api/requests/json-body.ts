import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../domain/service-error.ts';

const MAXIMUM_BYTES = 1024 * 1024;

/** Reads a JSON object of at most 1 MB. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return parseObject(await readText(request));
}

/** Where a body may be left out: none is an empty object. */
export async function readOptionalJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(request);
  return text === '' ? {} : parseObject(text);
}

/** Reads a body of at most 1 MB as it is. */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAXIMUM_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new ServiceError('malformed_request', 'The body ended too soon.', { cause: error });
  }
  if (bytes > MAXIMUM_BYTES) {
    // The rest passes by: the connection is to carry the answer and the next request.
    request.resume();
    throw new ServiceError('file_too_large', 'A JSON body may have 1 MB. Send files as multipart or as uploads.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Record<string, unknown> {
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ServiceError('malformed_request', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServiceError('malformed_request', 'The body is not valid JSON.', { cause: error });
  }
}
