/**
 * Runs the whole service on one machine: starts PostgreSQL, Temporal, the API and the workers in order, keeps them running,
 * and stops them in order.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, lockHolder } from './folder-lock.ts';
import { ProcessRecord } from './process-record.ts';
import { type ServiceDescription, writeSecretFile } from './service-description.ts';
import { ServiceParts, type StartOptions } from './service-parts.ts';

export interface EmbeddedService {
  description: ServiceDescription;
  /** Resolves, with the reason, when a part failed permanently. */
  failed: Promise<Error>;
  /** The running processes, by name. */
  processIds(): Record<string, number | null>;
  stop(): Promise<void>;
}

export function processRecordOf(dataDirectory: string): ProcessRecord {
  return new ProcessRecord(join(dataDirectory, 'processes.json'));
}

/** @throws FolderLockedError when another service runs from the folder. */
export async function startService(options: StartOptions): Promise<EmbeddedService> {
  const { dataDirectory } = options.settings;
  const lock = lockFolder(dataDirectory);
  const parts = new ServiceParts(options);
  const stop = async () => {
    rmSync(join(dataDirectory, 'service.json'), { force: true });
    await parts.stop();
    lock.release();
  };
  try {
    const description = await parts.start();
    writeSecretFile(join(dataDirectory, 'service.json'), description);
    return { description, failed: parts.failed, processIds: () => parts.processIds(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The service that runs from this folder; null if there is none, or if it is not up yet. */
export function findRunningService(dataDirectory: string): ServiceDescription | null {
  const path = join(dataDirectory, 'service.json');
  if (!lockHolder(dataDirectory) || !existsSync(path)) return null;
  return JSON.parse(readFileSync(path, 'utf8')) as ServiceDescription;
}
