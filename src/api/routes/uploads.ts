/** `POST /v1/uploads` and `GET /v1/uploads/{id}`: files that jobs refer to as `input_ref`. */
import { Type } from 'typebox';
import { MEGABYTE, UPLOAD_MEDIA_TYPES, UPLOAD_VIDEO_BYTES, uploadLimitBytes } from '../../contracts/media-limits.ts';
import { fingerprint } from '../../jobs/idempotency.ts';
import { claimIdempotencyKey, type StoredResponse } from '../../jobs/idempotency-claims-store.ts';
import type { EntityManager } from '../../platform/database/orm.ts';
import { epochSeconds } from '../../platform/epoch-seconds.ts';
import { newId } from '../../platform/ids.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { Upload } from '../../uploads/entities.ts';
import type { ApiContext } from '../context.ts';
import { readJsonBody } from '../requests/json-body.ts';
import { readMultipartBody, removeFiles, type StoredFile } from '../requests/multipart-body.ts';
import { readIdempotencyKey, refuseUnknownQuery } from '../requests/request-options.ts';
import { compileValidator } from '../requests/validator.ts';

const UNUSED_LIFETIME_MS = 24 * 60 * 60_000;

export interface UploadDependencies {
  store: ObjectStore;
  signedUrls: SignedUrls;
  clock: () => Date;
}

/** The columns of an upload, before or after it is stored. */
type UploadRow = Pick<
  Upload,
  | 'id'
  | 'organizationId'
  | 'livemode'
  | 'status'
  | 'filename'
  | 'mediaType'
  | 'bytes'
  | 'receivedBytes'
  | 'sha256'
  | 'storageKey'
  | 'createdAt'
  | 'expiresAt'
  | 'usedAt'
>;

/** Body of an announcement: the content follows by `PUT`. */
export const announcedUpload = Type.Object(
  {
    filename: Type.String({ minLength: 1, maxLength: 255 }),
    // Without a maximum: a larger file is refused as too large, not as invalid.
    bytes: Type.Integer({
      minimum: 1,
      description: 'Exact size of the file: at most 50 MB for a picture, 2 GB for a video.',
    }),
    mime_type: Type.Enum([...UPLOAD_MEDIA_TYPES]),
  },
  { additionalProperties: false },
);

const validateAnnouncement = compileValidator(announcedUpload, 'json');

export function createUploadRoute({ store, signedUrls, clock }: UploadDependencies) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const key = readIdempotencyKey(context);
    if (context.is('application/json')) return announce(context, key);
    if (context.is('multipart/form-data')) return receive(context, key);
    throw new ServiceError(
      'unsupported_media_type',
      'Send the file as multipart/form-data in a part named "file", or announce it as application/json.',
    );
  };

  async function announce(context: ApiContext, key: string | null): Promise<void> {
    const body = await readJsonBody(context);
    validateAnnouncement(body);
    const { filename, bytes, mime_type: mediaType } = body as Type.Static<typeof announcedUpload>;
    if (bytes > uploadLimitBytes(mediaType)) throw tooLarge(mediaType, 'bytes');
    const id = newId('upload');
    const announced = { filename, bytes, mediaType, storageKey: `uploads/${id}`, sha256: null, receivedBytes: 0 };
    const upload = planUpload(context, id, { ...announced, status: 'pending' });
    await respond(context, key, upload, fingerprint(body));
  }

  async function receive(context: ApiContext, key: string | null): Promise<void> {
    const id = newId('upload');
    const { fields, files } = await readMultipartBody(context.req, store, {
      field: 'file',
      maximum: 1,
      maximumBytes: UPLOAD_VIDEO_BYTES,
      directMediaTypes: UPLOAD_MEDIA_TYPES,
      storageKey: () => `uploads/${id}`,
    });
    try {
      const file = checkFile(fields, files);
      const upload = planUpload(context, id, { ...file, status: 'ready', receivedBytes: file.bytes });
      const isReplay = await respond(context, key, upload, fingerprint({ file: file.sha256 }));
      if (isReplay) await removeFiles(store, files);
    } catch (error) {
      // After a lost connection the row may exist: keep the files. The sweeper removes them if it does not.
      if (error instanceof ServiceError) await removeFiles(store, files);
      throw error;
    }
  }

  function planUpload(
    context: ApiContext,
    id: string,
    content: Omit<UploadRow, 'id' | 'organizationId' | 'livemode' | 'createdAt' | 'expiresAt' | 'usedAt'>,
  ): UploadRow {
    const { organizationId, livemode } = context.state.apiKey;
    const createdAt = clock();
    const expiresAt = new Date(createdAt.getTime() + UNUSED_LIFETIME_MS);
    return {
      id,
      organizationId,
      livemode,
      ...content,
      createdAt,
      expiresAt,
      usedAt: null,
    };
  }

  /** Records the upload unless the key was used before. Returns whether the response is a replay. */
  async function respond(
    context: ApiContext,
    key: string | null,
    upload: UploadRow,
    payloadFingerprint: Buffer,
  ): Promise<boolean> {
    const response = { status: 201, body: JSON.stringify(renderUpload(upload, signedUrls)) };
    const replay = await context.state.em.transactional((em) => record(em, key, upload, payloadFingerprint, response));
    if (replay) context.set('Idempotent-Replayed', 'true');
    context.status = (replay ?? response).status;
    context.type = 'application/json';
    context.body = (replay ?? response).body;
    return replay !== null;
  }
}

async function record(
  em: EntityManager,
  key: string | null,
  upload: UploadRow,
  payloadFingerprint: Buffer,
  response: StoredResponse,
): Promise<StoredResponse | null> {
  const { organizationId, livemode } = upload;
  const claim = { organizationId, livemode, route: 'uploads', key: key ?? '' };
  const replay = key === null ? null : await claimIdempotencyKey(em, claim, payloadFingerprint, response);
  if (!replay) em.create(Upload, upload);
  return replay;
}

function checkFile(fields: Readonly<Record<string, unknown>>, [file]: readonly StoredFile[]): StoredFile {
  const [unknownField] = Object.keys(fields);
  if (unknownField !== undefined) {
    throw new ServiceError('parameter_unknown', `"${unknownField}" is not a parameter of uploads. Remove it.`, {
      param: unknownField,
    });
  }
  if (!file) throw new ServiceError('parameter_missing', '"file" is required.', { param: 'file' });
  if (file.bytes > uploadLimitBytes(file.mediaType)) throw tooLarge(file.mediaType, 'file');
  return file;
}

function tooLarge(mediaType: string, param: string): ServiceError {
  const megabytes = uploadLimitBytes(mediaType) / MEGABYTE;
  return new ServiceError('file_too_large', `An upload of ${mediaType} may have at most ${megabytes} MB.`, { param });
}

/** `GET /v1/uploads/{id}` */
export function createGetUploadRoute({ signedUrls, clock }: Omit<UploadDependencies, 'store'>) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const { organizationId, livemode } = context.state.apiKey;
    const id = String(context.params.id);
    const upload = await context.state.em.findOne(Upload, { id, organizationId, livemode });
    // An expired upload is reported as missing before the sweeper deletes it.
    const isGone = upload?.usedAt === null && upload.expiresAt <= clock();
    if (!upload || isGone) {
      throw new ServiceError('resource_not_found', `There is no upload ${id}.`, { param: 'id' });
    }
    context.body = renderUpload(upload, signedUrls);
  };
}

/** The upload as customers see it. A pending one carries the signed URL for its content. */
export function renderUpload(upload: UploadRow, signedUrls: SignedUrls) {
  const isPending = upload.status === 'pending';
  return {
    id: upload.id,
    object: 'upload',
    status: upload.status,
    livemode: upload.livemode,
    filename: upload.filename,
    mime_type: upload.mediaType,
    bytes: upload.bytes,
    received_bytes: upload.receivedBytes,
    sha256: upload.sha256,
    created: epochSeconds(upload.createdAt),
    expires_at: epochSeconds(upload.expiresAt),
    ...(isPending && {
      upload_url: signedUrls.sign(`/v1/uploads/${upload.id}/content`, upload.expiresAt),
      upload_headers: { 'Content-Type': upload.mediaType },
    }),
  };
}
