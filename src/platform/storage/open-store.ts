import type { Config } from '../config/config.ts';
import { createDiskStore } from './disk-store.ts';
import { createLayeredStore } from './layered-store.ts';
import { type ObjectStore, StoreRefusedError, StoreUnavailableError } from './object-store.ts';

/** What every process with files reads. */
export type StorageConfig = Config<
  | 'STORAGE'
  | 'STORAGE_DIRECTORY'
  | 'STORAGE_BUCKET'
  | 'STORAGE_REGION'
  | 'STORAGE_ENDPOINT'
  | 'STORAGE_PUBLIC_ENDPOINT'
  | 'STORAGE_ENCRYPTION'
  | 'STORAGE_KMS_KEY_ID'
  | 'STORAGE_ARTEFACT_LINKS'
>;

/** Of workers: some outages then cost no attempt. Shorter than an attempt of any inference. */
export const WORKER_PATIENCE_MS = 10_000;

interface OpenOptions {
  /** How long a call goes on trying while the bucket is away; 0 when omitted, for callers that report it at once. */
  patienceMs?: number;
  /** The bucket is away at the start. Calls fail until it is back. */
  onAway: (error: StoreUnavailableError) => void;
}

/**
 * The store that the configuration names. A bucket that is away does not keep the process from starting.
 * @throws StoreRefusedError when the bucket refuses the credentials, the permissions or its name
 */
export async function openStore(config: StorageConfig, options: OpenOptions): Promise<ObjectStore> {
  const [first, second] = await openStores(config, options);
  return second ? createLayeredStore(first, second) : first;
}

/** The stores that the configuration names, in its order. */
export async function openStores(
  config: StorageConfig,
  options: OpenOptions,
): Promise<readonly [ObjectStore, ObjectStore?]> {
  const open = (kind: 'disk' | 'bucket' = 'disk') =>
    kind === 'disk' ? createDiskStore(config.STORAGE_DIRECTORY) : openBucket(config, options);
  const [first, second] = config.STORAGE;
  return second === undefined ? [await open(first)] : [await open(first), await open(second)];
}

async function openBucket(config: StorageConfig, { patienceMs = 0, onAway }: OpenOptions): Promise<ObjectStore> {
  // Half a second and 36 MB that a process without a bucket does not need.
  const { createS3Store } = await import('./s3-store.ts');
  const { bucket, prefix } = config.STORAGE_BUCKET;
  const store = createS3Store({
    bucket,
    prefix,
    region: config.STORAGE_REGION || null,
    endpoint: config.STORAGE_ENDPOINT,
    encryption:
      config.STORAGE_ENCRYPTION === 'none'
        ? null
        : {
            algorithm: config.STORAGE_ENCRYPTION,
            kmsKeyId: config.STORAGE_KMS_KEY_ID || null,
          },
    links: config.STORAGE_ARTEFACT_LINKS === 'signed' ? { publicEndpoint: config.STORAGE_PUBLIC_ENDPOINT } : null,
    patienceMs,
  });
  try {
    await store.check();
  } catch (error) {
    if (error instanceof StoreRefusedError || !(error instanceof StoreUnavailableError)) throw error;
    onAway(error);
  }
  return store;
}
