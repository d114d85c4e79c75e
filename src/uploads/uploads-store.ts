/** Statements about uploads. */
import type { Batch } from '../platform/database/in-batches.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

const BATCH = 200;

/** Deletes a batch of uploads that no job used in time, the oldest first. Returns the keys of their objects. */
export async function deleteExpiredUploads(em: EntityManager): Promise<Batch & { storageKeys: string[] }> {
  const rows = await query<{ storage_key: string }>(
    em,
    `delete from uploads where id = any (array(
       select id from uploads where used_at is null and expires_at <= now()
       order by expires_at limit $1 for update skip locked
     ))
     returning storage_key`,
    [BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH, storageKeys: rows.map((row) => row.storage_key) };
}

/** Those of the uploads that `admit_job` refuses, in the given order: they have expired. */
export async function findGoneUploads(
  em: EntityManager,
  { organizationId, livemode }: { organizationId: string; livemode: boolean },
  ids: readonly string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select wanted.id from unnest($3::text[]) with ordinality as wanted (id, place)
     where not exists (
       select from uploads where uploads.id = wanted.id and organization_id = $1 and livemode = $2
         and status = 'ready' and (used_at is not null or expires_at > now())
     )
     order by place`,
    [organizationId, livemode, ids],
  );
  return rows.map((row) => row.id);
}

/** Each part rewrites the list of all. Parts of 3 MB suffice for the largest file. */
export const PARTS_AT_MOST = 1_000;

/** A stored part of an upload: bytes `start` to `end`, both included, as in HTTP. */
export interface StoredPart {
  start: number;
  end: number;
  key: string;
  /** Whether its request broke off. Such a part may be superseded by a longer one with the same start. */
  isBroken: boolean;
}

/**
 * Enters a part that continues what has arrived, or supersedes a broken part. Returns the key of the superseded part, if any;
 * null when the part no longer fits, because another one was entered meanwhile, or the upload has
 * as many as it may have.
 */
export async function enterPart(
  em: EntityManager,
  uploadId: string,
  { start, end, key, isBroken }: StoredPart,
): Promise<{ supersededKey: string | null } | null> {
  const brokenPartStart = isBroken ? start : null;
  const [continued] = await query(
    em,
    `update uploads set received_bytes = $3, part_keys = array_append(part_keys, $4), broken_part_start = $5
     where id = $1 and received_bytes = $2 and status = 'pending' and cardinality(part_keys) < $6
     returning id`,
    [uploadId, start, end + 1, key, brokenPartStart, PARTS_AT_MOST],
  );
  if (continued) return { supersededKey: null };
  const [superseded] = await query<{ key: string }>(
    em,
    `update uploads set
       received_bytes = $3, part_keys = array_append(trim_array(uploads.part_keys, 1), $4), broken_part_start = $5
     from (select id, part_keys from uploads where id = $1 for update) as before
     where uploads.id = before.id and broken_part_start = $2 and received_bytes < $3 and status = 'pending'
     returning before.part_keys[cardinality(before.part_keys)] as key`,
    [uploadId, start, end + 1, key, brokenPartStart],
  );
  return superseded ? { supersededKey: superseded.key } : null;
}

/** Whether an upload has as many parts as it may have. */
export async function hasAllPartsAllowed(em: EntityManager, uploadId: string): Promise<boolean> {
  const rows = await query(em, 'select id from uploads where id = $1 and cardinality(part_keys) >= $2', [
    uploadId,
    PARTS_AT_MOST,
  ]);
  return rows.length > 0;
}

/** Storage keys of the parts, in order, once all have arrived; null before, and when the upload is no longer pending. */
export async function findCompleteParts(em: EntityManager, uploadId: string): Promise<string[] | null> {
  const [complete] = await query<{ part_keys: string[] }>(
    em,
    `select part_keys from uploads where id = $1 and status = 'pending' and received_bytes = bytes`,
    [uploadId],
  );
  return complete?.part_keys ?? null;
}

/** Makes an upload ready with the object of its joined parts. Returns false when another request decided first. */
export async function publishUpload(
  em: EntityManager,
  uploadId: string,
  { partKeys, sha256, storageKey }: { partKeys: readonly string[]; sha256: string; storageKey: string },
): Promise<boolean> {
  const decided = await query(
    em,
    `update uploads set status = 'ready', sha256 = $3, storage_key = $4, part_keys = '{}', broken_part_start = null
     where id = $1 and status = 'pending' and part_keys = $2 returning id`,
    [uploadId, partKeys, sha256, storageKey],
  );
  return decided.length > 0;
}

/** Drops all parts, so that the client sends the file again. Returns false when another request decided first. */
export async function restartUpload(
  em: EntityManager,
  uploadId: string,
  partKeys: readonly string[],
): Promise<boolean> {
  const decided = await query(
    em,
    `update uploads set received_bytes = 0, part_keys = '{}', broken_part_start = null
     where id = $1 and status = 'pending' and part_keys = $2 returning id`,
    [uploadId, partKeys],
  );
  return decided.length > 0;
}

/** Whether the upload is still pending with exactly these parts. */
export async function isPendingWith(
  em: EntityManager,
  uploadId: string,
  partKeys: readonly string[],
): Promise<boolean> {
  const rows = await query(em, `select id from uploads where id = $1 and status = 'pending' and part_keys = $2`, [
    uploadId,
    partKeys,
  ]);
  return rows.length > 0;
}
