import { buffer } from 'node:stream/consumers';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../platform/storage/object-store.ts';
import { isTruncated } from '../../uploads/truncation.ts';
import { type InferenceRequest, referenceName } from './inference-request.ts';

/** The refusal of the first input file that ends early, or null. */
export async function findTruncatedInput(
  store: ObjectStore,
  { files }: Pick<EndpointContract, 'files'>,
  { inputs }: Pick<InferenceRequest, 'inputs'>,
): Promise<ServiceError | null> {
  for (const { storageKey, mediaType, bytes, field, uploadId } of inputs) {
    const read = async (start: number, end: number) =>
      start < end ? buffer(await store.stream(storageKey, { start, end: end - 1 })) : Buffer.alloc(0);
    const param = uploadId === null ? field : referenceName(files.maximum);
    try {
      if (!(await isTruncated(mediaType, { bytes, read }))) continue;
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) throw error;
      return new ServiceError('resource_not_found', `The upload ${uploadId} is no longer stored.`, { param });
    }
    const name = uploadId === null ? `A file in "${field}"` : `The upload ${uploadId}`;
    return new ServiceError('parameter_invalid', `${name} is truncated. Send the complete original file.`, { param });
  }
  return null;
}
