/** What bundles need besides models: video decoding, short-lived pictures and previews. */

import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { InferenceRequest, StageContext } from '../../contracts/inference-backend.ts';
import { randomToken } from '../../platform/ids.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { createTurns } from '../video/in-turn.ts';
import { watchVideo } from '../video/watch-video.ts';
import type { BundleTools } from './bundle-definition.ts';
import { makePreviews } from './previews/make-previews.ts';
import { errorOfStore, isOfStore } from './store-errors.ts';

export type BundleFiles = Pick<ObjectStore, 'get' | 'put' | 'remove' | 'withFile'>;

interface Dependencies {
  bundleFiles?: BundleFiles | undefined;
  writeArtefact: WriteArtefact;
  /** Most videos of bundles decoded at the same time. */
  children: number;
  /** Memory that a preview process may allocate beyond what it holds when warm; no limit when 0 or omitted. */
  workingMemoryBytes?: number | undefined;
}

export type ToolsFor = (
  request: Pick<InferenceRequest, 'jobId'>,
  /** Unique within the job. */
  unit: string,
  context: Pick<StageContext, 'signal' | 'onProgress' | 'readResult'>,
) => BundleTools;

export function createBundleTools({
  bundleFiles,
  writeArtefact,
  children,
  workingMemoryBytes,
}: Dependencies): ToolsFor {
  // A video occupies a processor for minutes, as long as networks look at it. In a queue apart from the films of other endpoints, which
  // would wait that long.
  const inTurn = createTurns(children);
  const files = (): BundleFiles => {
    if (!bundleFiles) throw new Error('this worker has no bundleFiles');
    return bundleFiles;
  };

  return ({ jobId }, unit, { signal, onProgress, readResult }) => ({
    jobId,
    watchVideo: (input, use) =>
      inTurn(signal, async () => {
        try {
          return await files().withFile(input.storageKey, (path) => watchVideo(path, { signal }, use));
        } catch (error) {
          throw isOfStore(error) ? errorOfStore(error, input.field) : error;
        }
      }),
    async withPicture(jpeg, use) {
      // Beside the job's own files, so that leftovers of a crash are deleted with them. Its name is no other attempt's:
      // one that was given up may remove its pictures late.
      const storageKey = `jobs/${jobId}.${unit}-${randomToken()}.jpg`;
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
  });
}

async function ofStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw errorOfStore(error);
  }
}
