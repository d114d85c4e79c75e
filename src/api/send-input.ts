import type { JobInput } from '../contracts/job.ts';
import { ServiceError } from '../platform/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../platform/storage/object-store.ts';
import type { ApiContext } from './context.ts';
import { sendStream } from './send-stream.ts';

/** Responds with an input file of a job. @throws ServiceError `resource_not_found` when there is none, or it is gone */
export async function sendInput(context: ApiContext, store: ObjectStore, input: JobInput | undefined): Promise<void> {
  if (!input) throw new ServiceError('resource_not_found', 'No such file. Use the link unchanged.');
  try {
    if (context.method === 'HEAD') await store.size(input.storageKey);
    else sendStream(context, await store.stream(input.storageKey));
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) throw error;
    throw new ServiceError('resource_not_found', 'This file is no longer stored.');
  }
  context.status = 200;
  context.type = input.mediaType;
  context.length = input.bytes;
  context.set('Cache-Control', 'private, no-store');
}
