import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import { parseJson } from './parse-json.ts';

const MAXIMUM_BYTES = 1024 * 1024;
/** Replaces nothing and leaves nothing out: what is stored and what was signed is what was sent. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a JSON object of at most 1 MB. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return parseObject(await readText(request));
}

/** Where a body may be left out: none is an empty object. */
export async function readOptionalJsonBody(context: ApiContext): Promise<Record<string, unknown>> {
  const text = await readText(context.req);
  if (text === '') return {};
  if (!context.is('application/json')) {
    throw new ServiceError('unsupported_media_type', 'Send the body as application/json, or leave it out.');
  }
  return parseObject(text);
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
  try {
    return UTF8.decode(Buffer.concat(chunks));
  } catch (error) {
    throw new ServiceError('malformed_request', 'The body is not valid UTF-8.', { cause: error });
  }
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
    return parseJson(text);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('malformed_request', 'The body is not valid JSON.', { cause: error });
  }
}
