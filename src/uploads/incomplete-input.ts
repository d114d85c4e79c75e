/** Input files that end early, as a dry run and test mode check them. Live mode finds them when it decodes them. */
import { buffer } from 'node:stream/consumers';
import type { JobInput } from '../contracts/job.ts';
import { ObjectNotFoundError, type ObjectStore } from '../platform/storage/object-store.ts';
import { isTruncated } from './truncation.ts';

export interface IncompleteInput {
  input: JobInput;
  /** Whether the file is no longer stored; otherwise it is truncated. */
  isMissing: boolean;
  /** Tells the caller what to change. */
  message: string;
}

/** The first file that ends early or is no longer stored; null when all are complete. */
export async function findIncompleteInput(
  store: Pick<ObjectStore, 'stream'>,
  inputs: readonly JobInput[],
): Promise<IncompleteInput | null> {
  for (const [index, input] of inputs.entries()) {
    const { storageKey, mediaType, bytes, field, uploadId } = input;
    const read = async (start: number, end: number) =>
      start < end ? buffer(await store.stream(storageKey, { start, end: end - 1 })) : Buffer.alloc(0);
    const which = inputs.length === 1 ? 'The file' : `File ${index + 1}`;
    const name = uploadId === null ? `${which} in "${field}"` : `The upload ${uploadId}`;
    try {
      if (!(await isTruncated(mediaType, { bytes, read }))) continue;
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) throw error;
      return { input, isMissing: true, message: `${name} is no longer stored. Send it again.` };
    }
    return { input, isMissing: false, message: `${name} is truncated. Send the complete original file.` };
  }
  return null;
}
