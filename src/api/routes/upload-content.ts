/**
 * `PUT /v1/uploads/{id}/content`: the bytes of an announced upload, whole, or in parts with `Content-Range`. A part that
 * was not the last is answered 308 with the `Range` that has arrived; `Content-Range: bytes * /<size>` (without the
 * blank) asks for it, so that a client can go on after a broken connection.
 */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { MEGABYTE } from '../../contracts/media-limits.ts';
import { Upload } from '../../db/entities.ts';
import { type EntityManager, query } from '../../db/orm.ts';
import { randomToken } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ApiContext } from '../context.ts';
import { type ContentLimit, createContentMeter, type MeteredContent } from '../requests/content-meter.ts';
import type { OpenToPages } from './any-origin.ts';
import { renderUpload, type UploadDependencies } from './uploads.ts';

/** More than this comes in parts, so that a broken connection costs little. */
const LARGEST_PART_BYTES = 64 * MEGABYTE;

/** Bytes `start` to `end`, both included, as in HTTP. */
interface Part {
  start: number;
  end: number;
}

export const UPLOAD_PAGES: OpenToPages = { methods: 'PUT', answerHeaders: 'Range, Request-Id' };

export function createUploadContentRoute({ store, signedUrls, clock }: UploadDependencies) {
  return async (context: ApiContext): Promise<void> => {
    let upload = await findUpload(context);
    if (upload.status === 'pending') {
      const part = readPart(context, upload);
      if (part) await receive(context, upload, part);
      // Other requests may send the same upload: what counts is what it has come to, by whomever.
      upload = await findUpload(context);
    }
    if (upload.status === 'pending' && upload.receivedBytes === upload.bytes) {
      await finish(context.state.em, store, upload);
      upload = await findUpload(context);
    }
    if (upload.status === 'pending') answerProgress(context, upload.receivedBytes);
    context.body = renderUpload(upload, signedUrls);
  };

  async function findUpload(context: ApiContext): Promise<Upload> {
    const id = String(context.params.id);
    const state = signedUrls.verify(context.path, context.query, clock());
    const upload = state === 'valid' ? await context.state.em.fork().findOne(Upload, { id }) : null;
    if (!upload || (upload.usedAt === null && upload.expiresAt <= clock())) {
      throw new ServiceError(
        'resource_not_found',
        'There is no such upload, or its link has expired. Announce it again.',
      );
    }
    return upload;
  }

  /** Stores a part that continues what has arrived, and enters it, unless another one was entered meanwhile. */
  async function receive(context: ApiContext, upload: Upload, { start, end }: Part): Promise<void> {
    // Not where the upload stands: the client learns where that is, and goes on from there.
    if (start !== upload.receivedBytes) return;
    const key = newPartKey(upload, start);
    const expected = end - start + 1;
    const content = await meteredPut(store, key, context.req, {
      bytes: expected,
      error: wrongLength(expected),
    }).catch((cause: unknown) => {
      throw context.req.readableAborted
        ? new ServiceError('malformed_request', 'The body ended too soon.', { cause })
        : cause;
    });
    if (content.bytes !== expected) {
      await store.remove(key);
      throw wrongLength(expected);
    }
    const entered = await query(
      context.state.em,
      `update uploads set received_bytes = $3, part_keys = array_append(part_keys, $4)
       where id = $1 and received_bytes = $2 and status = 'pending'
       returning id`,
      [upload.id, start, end + 1, key],
    );
    if (entered.length === 0) await store.remove(key);
  }
}

function wrongLength(expected: number): ServiceError {
  return new ServiceError('malformed_request', `The body does not have the ${expected} bytes that were announced.`, {
    param: 'Content-Range',
  });
}

function answerProgress(context: ApiContext, receivedBytes: number): void {
  context.status = 308;
  if (receivedBytes > 0) context.set('Range', `bytes=0-${receivedBytes - 1}`);
}

/** Which bytes the body holds; null when the client only asks how much has arrived. */
function readPart(context: ApiContext, upload: Upload): Part | null {
  const header = context.get('Content-Range');
  const [, start, end, size] =
    /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(header || `bytes 0-${upload.bytes - 1}/${upload.bytes}`) ?? [];
  if (Number(size) !== upload.bytes) {
    throw new ServiceError('parameter_invalid', `Content-Range must end in the announced size, /${upload.bytes}.`, {
      param: 'Content-Range',
    });
  }
  if (start === undefined) return null;
  const part = { start: Number(start), end: Number(end) };
  if (part.end < part.start || part.end >= upload.bytes) {
    throw new ServiceError('parameter_invalid', 'Content-Range must name bytes of the announced file.', {
      param: 'Content-Range',
    });
  }
  if (part.end - part.start >= LARGEST_PART_BYTES) {
    throw new ServiceError('file_too_large', `Send parts of at most ${LARGEST_PART_BYTES / MEGABYTE} MB.`, {
      param: 'Content-Range',
    });
  }
  return part;
}

/**
 * Once all parts are there: joins them, checks what they are, and makes the upload ready. Any number of requests may do so
 * at the same time, and again after a crash: each joins into an object of its own, and one is published. What a crash
 * leaves lying is swept when the upload is gone.
 */
async function finish(em: EntityManager, store: ObjectStore, upload: Upload): Promise<void> {
  const [complete] = await query<{ part_keys: string[] }>(
    em,
    `select part_keys from uploads where id = $1 and status = 'pending' and received_bytes = bytes`,
    [upload.id],
  );
  if (!complete) return;
  const partKeys = complete.part_keys;
  const key = `uploads/${upload.id}.${randomToken()}`;
  let joined: MeteredContent;
  try {
    joined = await meteredPut(store, key, Readable.from(contentOf(store, partKeys)));
  } catch (error) {
    // Another request was first, and has removed the parts.
    if (!(await isPendingWith(em, upload, partKeys))) return;
    throw error;
  }
  const isWhole = joined.bytes === upload.bytes;
  const isAsAnnounced = isWhole && joined.mediaType === upload.mediaType;
  const decided = isAsAnnounced
    ? await query(
        em,
        `update uploads set status = 'ready', sha256 = $3, storage_key = $4, part_keys = '{}'
         where id = $1 and status = 'pending' and part_keys = $2 returning id`,
        [upload.id, partKeys, joined.sha256, key],
      )
    : await query(
        em,
        `update uploads set received_bytes = 0, part_keys = '{}'
         where id = $1 and status = 'pending' and part_keys = $2 returning id`,
        [upload.id, partKeys],
      );
  const isFirst = decided.length > 0;
  if (!(isAsAnnounced && isFirst)) await store.remove(key);
  if (isFirst) for (const partKey of partKeys) await store.remove(partKey);
  // Too few are there when the release before took some: the client is told to begin again.
  if (isWhole && !isAsAnnounced) {
    const found = joined.mediaType ?? 'of no known type';
    throw new ServiceError(
      'unsupported_media_type',
      `The content was announced as ${upload.mediaType}; it is ${found}.`,
    );
  }
}

async function isPendingWith(em: EntityManager, upload: Upload, partKeys: readonly string[]): Promise<boolean> {
  const rows = await query(em, `select id from uploads where id = $1 and status = 'pending' and part_keys = $2`, [
    upload.id,
    partKeys,
  ]);
  return rows.length > 0;
}

async function* contentOf(store: ObjectStore, keys: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* (await store.stream(key)) as AsyncIterable<Uint8Array>;
}

/** Stores content, and tells what it was. A source that ends too soon, or goes on too long, leaves nothing. */
export async function meteredPut(
  store: ObjectStore,
  key: string,
  source: Readable,
  limit?: ContentLimit,
): Promise<MeteredContent> {
  const meter = createContentMeter(limit);
  // The source may end too soon while it is read, or have done so before.
  finished(source, { writable: false }).catch((error: Error) => meter.stream.destroy(error));
  source.pipe(meter.stream);
  try {
    await store.put(key, meter.stream);
  } catch (error) {
    // What is left of a request passes by: the connection is to carry the answer and the next one.
    source.unpipe(meter.stream).resume();
    throw error;
  }
  return meter.read();
}

/**
 * A key that no other request writes to: parts of the same start may be on their way at the same time. It begins as the
 * release before names and sorts them.
 */
function newPartKey(upload: Upload, start: number): string {
  return `uploads/${upload.id}.parts/${String(start).padStart(12, '0')}.${randomToken()}`;
}
