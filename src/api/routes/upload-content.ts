/**
 * `PUT /v1/uploads/{id}/content`: the bytes of an announced upload, whole, or in parts with `Content-Range`. Every part but
 * the last gets 308 with the `Range` that has arrived. `Content-Range: bytes * /<size>` (without the blank) asks for that
 * range, so that a client can resume after a broken connection.
 */
import { MEGABYTE } from '../../contracts/media-limits.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { Upload } from '../../uploads/entities.ts';
import { assertContent, finishUpload, hashBody, type Part, receivePart } from '../../uploads/upload-parts.ts';
import type { ApiContext } from '../context.ts';
import type { OpenToPages } from './any-origin.ts';
import { renderUpload, type UploadDependencies } from './uploads.ts';

/** A larger file comes in parts, so that a broken connection costs little. */
const LARGEST_PART_BYTES = 64 * MEGABYTE;

export const UPLOAD_PAGES: OpenToPages = { methods: 'PUT', exposedHeaders: 'Range, Request-Id' };

export function createUploadContentRoute({ store, signedUrls, clock }: UploadDependencies) {
  return async (context: ApiContext): Promise<void> => {
    let upload = await findUpload(context);
    const part = readPart(context, upload);
    let unusedSha256: string | null = null;
    if (part && upload.status === 'pending') {
      unusedSha256 = await receivePart(context.state.em, store, upload, part, context.req);
      // Other requests may send parts of the same upload.
      upload = await findUpload(context);
    } else if (part) {
      unusedSha256 = await hashBody(part, context.req);
    }
    if (upload.status === 'pending' && upload.receivedBytes === upload.bytes) {
      await finishUpload(context.state.em, store, upload);
      upload = await findUpload(context);
    }
    if (upload.status === 'pending') answerProgress(context, upload.receivedBytes);
    else if (part && unusedSha256 !== null) await assertContent(store, upload, part, unusedSha256);
    context.body = renderUpload(upload, signedUrls);
  };

  async function findUpload(context: ApiContext): Promise<Upload> {
    const id = String(context.params.id);
    const state = signedUrls.verify(context.path, context.query, clock());
    const upload = state === 'valid' ? await context.state.em.fork().findOne(Upload, { id }) : null;
    if (!upload || (upload.usedAt === null && upload.expiresAt <= clock())) {
      throw new ServiceError('resource_not_found', 'No such upload, or its link has expired. Create the upload again.');
    }
    return upload;
  }
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
    throw new ServiceError('parameter_invalid', 'Content-Range must lie within the announced file.', {
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
