/** Announced uploads whose content arrives in parts, and becomes one object once all parts are there. */
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EntityManager } from '../platform/database/orm.ts';
import { randomToken } from '../platform/ids.ts';
import { ServiceError } from '../platform/service-error.ts';
import type { ObjectStore } from '../platform/storage/object-store.ts';
import { type ContentLimit, createContentMeter, type MeteredContent, meteredPut } from './content-meter.ts';
import type { Upload } from './entities.ts';
import {
  enterPart,
  findCompleteParts,
  hasAllPartsAllowed,
  isPendingWith,
  PARTS_AT_MOST,
  publishUpload,
  restartUpload,
} from './uploads-store.ts';

/** A shorter rest of a broken request is not worth a part. */
const LEAST_KEPT_BYTES = 64 * 1024;

/** Bytes `start` to `end` of the file, both included, as in HTTP. */
export interface Part {
  start: number;
  end: number;
}

/**
 * Stores the body of a request as a part, if it continues what has arrived or supersedes a broken part. What
 * arrived of a request that breaks off is kept, so that the client can resume. Returns the SHA-256 of a part that no longer fitted when
 * it was complete; null otherwise.
 * @throws ServiceError `malformed_request` when the body breaks off or does not have the part's length;
 * `parameter_invalid` when the upload has as many parts as it may have
 */
export async function receivePart(
  em: EntityManager,
  store: ObjectStore,
  upload: Upload,
  { start, end }: Part,
  body: Readable,
): Promise<string | null> {
  const supersedes = start === upload.brokenPartStart && end >= upload.receivedBytes;
  if (start !== upload.receivedBytes && !supersedes) return null;
  // Before a byte is stored; `enterPart` sees to it again. A part that supersedes another adds none.
  if (!supersedes && (await hasAllPartsAllowed(em, upload.id))) throw tooManyParts();
  const key = newPartKey(upload, start);
  const limit = exactly(end - start + 1);
  const content = await meteredPut(store, key, body, limit, { keepsBroken: true });
  const isBroken = body.readableAborted;
  if (content.bytes !== limit.bytes && !(isBroken && content.bytes >= LEAST_KEPT_BYTES)) {
    await store.remove(key);
    throw isBroken ? brokenOff() : limit.error;
  }
  const entered = await enterPart(em, upload.id, { start, end: start + content.bytes - 1, key, isBroken });
  const unused = entered ? entered.supersededKey : key;
  if (unused !== null) await store.remove(unused);
  if (isBroken) throw brokenOff();
  return entered ? null : content.sha256;
}

/**
 * Reads a body that is sent to an upload which is already ready. Returns its SHA-256.
 * @throws ServiceError `malformed_request` when the body breaks off or does not have the part's length
 */
export async function hashBody({ start, end }: Part, body: Readable): Promise<string> {
  const limit = exactly(end - start + 1);
  const meter = createContentMeter(limit);
  try {
    await pipeline(body, meter.stream, nowhere(), { end: true });
  } catch (error) {
    body.unpipe(meter.stream).resume();
    throw body.readableAborted ? brokenOff(error) : error;
  }
  const { bytes, sha256 } = await meter.read();
  if (bytes !== limit.bytes) throw limit.error;
  return sha256;
}

/** @throws ServiceError `upload_already_ready` when bytes with this hash are not that part of the ready upload */
export async function assertContent(
  store: ObjectStore,
  { storageKey }: Upload,
  part: Part,
  sha256: string,
): Promise<void> {
  const meter = createContentMeter();
  await pipeline(await store.stream(storageKey, part), meter.stream, nowhere());
  if ((await meter.read()).sha256 === sha256) return;
  throw new ServiceError(
    'upload_already_ready',
    'This upload is ready with other content. Announce a new upload for another file.',
  );
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

const brokenOff = (cause?: unknown) => new ServiceError('malformed_request', 'The body ended too soon.', { cause });

const tooManyParts = () =>
  new ServiceError(
    'parameter_invalid',
    `An upload may have at most ${PARTS_AT_MOST.toLocaleString('en-US')} parts. Announce it again and send larger parts.`,
    { param: 'Content-Range' },
  );

function exactly(bytes: number): ContentLimit {
  const message = `The body does not have the ${bytes} bytes that were announced.`;
  return { bytes, error: new ServiceError('malformed_request', message, { param: 'Content-Range' }) };
}

/**
 * A key that no other request writes to: parts with the same start may arrive at the same time. In no folder of the
 * upload's own, which would stay on a disk when its last part is removed.
 */
function newPartKey(upload: Upload, start: number): string {
  return `uploads/${upload.id}.part-${start}.${randomToken()}`;
}

/**
 * Joins the parts of a complete upload, checks their content and makes the upload ready; does nothing while parts are
 * missing. Requests may do so at the same time, and again after a crash: each joins into its own object, and one of them is
 * published. Objects that a crash leaves behind are swept once the upload is gone.
 * @throws ServiceError `unsupported_media_type` when the content is not of the announced type; the upload then starts over
 */
export async function finishUpload(em: EntityManager, store: ObjectStore, upload: Upload): Promise<void> {
  const partKeys = await findCompleteParts(em, upload.id);
  if (!partKeys) return;
  const key = `uploads/${upload.id}.${randomToken()}`;
  let joined: MeteredContent;
  try {
    joined = await meteredPut(store, key, Readable.from(contentOf(store, partKeys)));
  } catch (error) {
    // Another request was first and has removed the parts.
    if (!(await isPendingWith(em, upload.id, partKeys))) return;
    throw error;
  }
  const isWhole = joined.bytes === upload.bytes;
  const isAsAnnounced = isWhole && joined.mediaType === upload.mediaType;
  const isFirst = isAsAnnounced
    ? await publishUpload(em, upload.id, { partKeys, sha256: joined.sha256, storageKey: key })
    : await restartUpload(em, upload.id, partKeys);
  if (!(isAsAnnounced && isFirst)) await store.remove(key);
  if (isFirst) for (const partKey of partKeys) await store.remove(partKey);
  // Bytes are missing when the release before received some of them: the response tells the client to begin again.
  if (isWhole && !isAsAnnounced) {
    const found = joined.mediaType ?? 'of no known type';
    throw new ServiceError(
      'unsupported_media_type',
      `The content was announced as ${upload.mediaType}; it is ${found}.`,
    );
  }
}

async function* contentOf(store: ObjectStore, keys: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* (await store.stream(key)) as AsyncIterable<Uint8Array>;
}
