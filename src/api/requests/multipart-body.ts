/** Multipart by busboy: koa-body's formidable costs more CPU and bounds less (docs/adr/0033). */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import busboy from 'busboy';
import { MEGABYTE } from '../../contracts/media-limits.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { createContentMeter, type MeteredContent, measureContent } from '../../uploads/content-meter.ts';

/** A body up to this size is held in memory and written at once; a larger one is stored as it arrives. */
const HELD_BODY_BYTES = 512 * 1024;

/** Which files a multipart body may carry, and where each is to be stored. */
export interface FilePolicy {
  /** Name of the file part; `images[]` is taken for `images` too. */
  field: string;
  maximum: number;
  maximumBytes: number;
  directMediaTypes: readonly string[];
  /** Storage key of the n-th file, from 0. */
  storageKey(index: number): string;
}

export interface StoredFile {
  storageKey: string;
  filename: string | null;
  /** As sniffed from the content. */
  mediaType: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

export interface MultipartBody {
  /** Text parts; a repeated one is a list. `name[]` is taken for `name`. */
  fields: Record<string, string | string[]>;
  files: StoredFile[];
}

/**
 * Reads a multipart body and stores its files, larger ones as they arrive, so that memory stays bounded. A refused body
 * leaves no file behind.
 */
export async function readMultipartBody(
  request: IncomingMessage,
  store: ObjectStore,
  policy: FilePolicy,
): Promise<MultipartBody> {
  const fields: MultipartBody['fields'] = Object.create(null);
  const stored: Promise<StoredFile>[] = [];
  let refusal: ServiceError | undefined;
  const refuse = (error: ServiceError) => {
    refusal ??= error;
  };

  const parser = openParser(request, policy);
  // The parser's types know no part without a name. What a handler throws would end the process, as no promise waits for it.
  parser.on('field', (name: string | undefined, value, { valueTruncated }) => {
    if (!name) {
      refuse(new ServiceError('malformed_request', 'A part of the body has no name.'));
      return;
    }
    if (valueTruncated) refuse(new ServiceError('parameter_invalid', `"${name}" is too long.`, { param: name }));
    const field = name.replace(/\[\]$/, '');
    const known = fields[field];
    fields[field] = known === undefined ? value : [known, value].flat();
  });
  parser.on('file', (name: string | undefined, stream, { filename }) => {
    // When the body breaks off, so does the part, also one that is refused. The request reports it.
    stream.on('error', () => {});
    const error = refusal ?? refusePart(name, stored.length, policy);
    if (error) {
      refuse(error);
      stream.resume();
      return;
    }
    const storageKey = policy.storageKey(stored.length);
    const file = storeFile(store, policy, { storageKey, stream, isSmall: isSmallBody(request) });
    const kept = file.then((metered) => ({ storageKey, filename: filename?.replaceAll('\0', '') ?? null, ...metered }));
    // A refused file is reported after the whole body. Nobody listens until then, and a rejection must not end the process.
    kept.catch(() => {});
    stored.push(kept);
  });
  parser.on('partsLimit', () => refuse(new ServiceError('malformed_request', 'The body has too many parts.')));
  parser.on('fieldsLimit', () => refuse(new ServiceError('malformed_request', 'The body has too many fields.')));

  const read = await parse(request, parser);
  const results = await Promise.allSettled(stored);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  // A body that breaks off fails its file too, with an error that says less.
  const failure = refusal ?? failures.find((error) => error instanceof ServiceError) ?? read ?? failures[0];
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (failure) {
    await removeFiles(store, files);
    throw failure;
  }
  return { fields: { ...fields }, files };
}

export async function removeFiles(store: ObjectStore, files: readonly { storageKey: string }[]): Promise<void> {
  await Promise.all(files.map((file) => store.remove(file.storageKey)));
}

/**
 * Returns the first error of the body, if any. Unlike pipeline() it drains the rest of a broken body: the connection
 * carries the response and the next request.
 */
async function parse(request: IncomingMessage, parser: busboy.Busboy): Promise<ServiceError | undefined> {
  // The client may hang up while the body is read, or before.
  finished(request, { writable: false }).catch((error: Error) => parser.destroy(error));
  try {
    await finished(request.pipe(parser));
    return undefined;
  } catch (error) {
    parser.destroy();
    request.unpipe(parser).resume();
    return new ServiceError('malformed_request', 'The multipart body is broken or ended too soon.', { cause: error });
  }
}

function openParser(request: IncomingMessage, policy: FilePolicy): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      // As browsers and curl send the names of files.
      defParamCharset: 'utf8',
      limits: {
        // A file that reaches the limit counts as truncated: it is the first size that is too large.
        fileSize: policy.maximumBytes + 1,
        files: policy.maximum + 1,
        fields: 64,
        fieldSize: 64 * 1024,
        parts: policy.maximum + 65,
      },
    });
  } catch (error) {
    throw new ServiceError('malformed_request', 'The multipart body has no boundary.', { cause: error });
  }
}

function refusePart(name: string | undefined, index: number, policy: FilePolicy): ServiceError | undefined {
  if (!name) return new ServiceError('malformed_request', 'A part of the body has no name.');
  if (name !== policy.field && name !== `${policy.field}[]`) {
    return new ServiceError(
      'parameter_unknown',
      `"${name}" is not a file part of this request; "${policy.field}" is.`,
      {
        param: name,
      },
    );
  }
  if (index >= policy.maximum) {
    const message = `"${policy.field}" accepts at most ${policy.maximum === 1 ? 'one file' : `${policy.maximum} files`}.`;
    return new ServiceError('parameter_invalid', message, { param: policy.field });
  }
  return undefined;
}

/** Without a stated length a body may be of any size. */
function isSmallBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= HELD_BODY_BYTES;
}

interface FilePart {
  storageKey: string;
  stream: Readable & { truncated?: boolean };
  isSmall: boolean;
}

async function storeFile(store: ObjectStore, policy: FilePolicy, part: FilePart) {
  if (part.isSmall) {
    const content = Buffer.concat(await part.stream.toArray());
    const accepted = acceptFile(policy, part, await measureContent(content));
    await store.put(part.storageKey, content);
    return accepted;
  }
  const { storageKey, stream } = part;
  const meter = createContentMeter();
  // Piped, not with pipeline(): that would destroy the part when the store fails, and the parser would wait for ever
  // for a reader of what is left of it.
  stream.on('error', (error) => meter.stream.destroy(error)).pipe(meter.stream);
  meter.stream.on('error', () => {});
  try {
    await store.put(storageKey, meter.stream);
  } catch (error) {
    stream.unpipe(meter.stream).resume();
    throw error;
  }
  try {
    return acceptFile(policy, part, await meter.read());
  } catch (error) {
    await store.remove(storageKey);
    throw error;
  }
}

/** @throws ServiceError `file_too_large`, `unsupported_media_type` */
function acceptFile(policy: FilePolicy, { stream }: FilePart, { bytes, sha256, mediaType }: MeteredContent) {
  if (stream.truncated) throw tooLarge(policy);
  if (mediaType === null || !policy.directMediaTypes.includes(mediaType)) throw unsupported(policy, bytes, mediaType);
  return { bytes, sha256, mediaType };
}

function tooLarge({ field, maximumBytes }: FilePolicy): ServiceError {
  return new ServiceError(
    'file_too_large',
    `A file sent directly may have at most ${maximumBytes / MEGABYTE} MB (${maximumBytes} bytes). Send a larger one through POST /v1/uploads.`,
    { param: field },
  );
}

function unsupported({ field, directMediaTypes }: FilePolicy, bytes: number, mediaType: string | null): ServiceError {
  const found = bytes === 0 ? 'empty' : (mediaType ?? 'of no known type');
  return new ServiceError(
    'unsupported_media_type',
    `"${field}" must be ${directMediaTypes.join(', ')}; its content is ${found}.`,
    {
      param: field,
    },
  );
}
