import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { findIncompleteInput } from '../../uploads/incomplete-input.ts';
import { type InferenceRequest, referenceName } from './inference-request.ts';

/** The refusal of the first input file that ends early, or null. */
export async function findTruncatedInput(
  store: ObjectStore,
  { files }: Pick<EndpointContract, 'files'>,
  { inputs }: Pick<InferenceRequest, 'inputs'>,
): Promise<ServiceError | null> {
  const incomplete = await findIncompleteInput(store, inputs);
  if (!incomplete) return null;
  const { input, isMissing, message } = incomplete;
  const param = input.uploadId === null ? input.field : referenceName(files.maximum);
  return new ServiceError(isMissing ? 'resource_not_found' : 'input_unreadable', message, { param });
}
