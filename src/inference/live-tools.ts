/** What bundles need beside models: videos decoded, pictures kept for a moment, previews made. */
import { ServiceError } from '../domain/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../storage/object-store.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceRequest, StageContext } from './backend.ts';
import { makePreviews } from './previews/make-previews.ts';
import type { LiveTools } from './staged-endpoint.ts';
import { createTurns } from './video/in-turn.ts';
import { watchVideo } from './video/watch-video.ts';

export type LiveFiles = Pick<ObjectStore, 'get' | 'put' | 'remove' | 'withFile'>;

interface Dependencies {
  liveFiles?: LiveFiles | undefined;
  writeArtefact: WriteArtefact;
  /** Videos that are decoded at a time. */
  children: number;
  /** Most that a process which makes previews may take for its work; 0 or left out for no bound. */
  workingMemoryBytes?: number | undefined;
}

export type ToolsFor = (
  request: Pick<InferenceRequest, 'jobId'>,
  /** Names the unit within its job. */
  unit: string,
  context: Pick<StageContext, 'signal' | 'onProgress' | 'readResult'>,
) => LiveTools;

export function createLiveTools({ liveFiles, writeArtefact, children, workingMemoryBytes }: Dependencies): ToolsFor {
  // A decode takes a processor for minutes.
  const inTurn = createTurns(children);
  const files = (): LiveFiles => {
    if (!liveFiles) throw new Error('this worker was given no files for bundles');
    return liveFiles;
  };

  return ({ jobId }, unit, { signal, onProgress, readResult }) => {
    let pictures = 0;
    return {
      watchVideo: (input, use) =>
        inTurn(signal, async () => {
          try {
            return await files().withFile(input.storageKey, (path) => watchVideo(path, { signal }, use));
          } catch (error) {
            throw error instanceof ObjectNotFoundError ? errorOfStore(error, input.field) : error;
          }
        }),
      async withPicture(jpeg, use) {
        pictures += 1;
        // With the job's own files, so that what a crash leaves behind goes with them.
        const storageKey = `jobs/${jobId}.${unit}-${pictures}.jpg`;
        await ofStore(() => files().put(storageKey, jpeg));
        try {
          return await use({
            field: 'frame',
            storageKey,
            mediaType: 'image/jpeg',
            bytes: jpeg.byteLength,
            sha256: '',
            uploadId: null,
          });
        } finally {
          await ofStore(() => files().remove(storageKey));
        }
      },
      makePreviews: (inputs, size) =>
        makePreviews((index) => ofStore(() => files().get(inputs[index]?.storageKey ?? '')), inputs.length, {
          size,
          signal,
          workingMemoryBytes,
        }),
      writeArtefact: (file) => ofStore(() => writeArtefact(file)),
      resultOfJob: async (id) => (await readResult?.(id)) ?? null,
      onProgress,
    };
  };
}

async function ofStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw errorOfStore(error, undefined);
  }
}

function errorOfStore(cause: unknown, field: string | undefined): ServiceError {
  if (cause instanceof ObjectNotFoundError) {
    const message = 'The file of this job is no longer stored. Send it again.';
    return new ServiceError('input_unreadable', message, { param: field, cause });
  }
  return new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause });
}
