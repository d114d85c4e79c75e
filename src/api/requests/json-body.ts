import { HttpMethodEnum, koaBody } from 'koa-body';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { parseJson } from './parse-json.ts';

const MAXIMUM_BYTES = 1024 * 1024;
/** Strict: the decoded text must be exactly what was sent, because it is stored and its signature is checked. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Sets `request.body` to the bytes of a body of any type. koa-body's own JSON mode drops a byte-order mark, replaces invalid
 * UTF-8 and keeps the last of a repeated name.
 */
const readBytes = koaBody({
  json: false,
  urlencoded: false,
  textTypes: ['*/*'],
  textLimit: MAXIMUM_BYTES,
  // No decoder, hence a Buffer.
  encoding: '',
  parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
});

/** Reads a JSON object of at most 1 MB. */
export async function readJsonBody(context: ApiContext): Promise<Record<string, unknown>> {
  return parseObject(await readText(context));
}

/** Reads an optional JSON object; a missing body is an empty object. */
export async function readOptionalJsonBody(context: ApiContext): Promise<Record<string, unknown>> {
  const text = await readText(context);
  if (text === '') return {};
  if (!context.is('application/json')) {
    throw new ServiceError('unsupported_media_type', 'Send the body as application/json, or leave it out.');
  }
  return parseObject(text);
}

/** Reads a body of at most 1 MB as text. */
export async function readText(context: ApiContext): Promise<string> {
  // koa-body skips a body whose type is missing or malformed. RFC 9110 reads it as octets.
  if (!context.is('*/*')) context.req.headers['content-type'] = 'application/octet-stream';
  try {
    await readBytes(context, async () => {});
  } catch (error) {
    // Discards the rest: the connection carries the response and the next request.
    context.req.resume();
    throw (error as { status?: number }).status === 413
      ? new ServiceError(
          'file_too_large',
          'A JSON body may have at most 1 MB. Send files as multipart parts or uploads.',
        )
      : new ServiceError('malformed_request', 'The body ended too soon.', { cause: error });
  }
  const body: unknown = context.request.body;
  if (!Buffer.isBuffer(body)) return '';
  try {
    return UTF8.decode(body);
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
    const problem = error instanceof RangeError ? 'nested too deeply' : 'not valid JSON';
    throw new ServiceError('malformed_request', `The body is ${problem}.`, { cause: error });
  }
}
