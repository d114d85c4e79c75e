/** What bundles need besides models. */
import { expect, test } from 'vitest';
import { createBundleTools } from '../../../src/inference/bundles/tools.ts';
import { ObjectNotFoundError, ownerOf } from '../../../src/platform/storage/object-store.ts';

const JOB = 'job_1111111111111111111111';

test('an attempt that was given up leaves the picture of its successor, which belongs to the job', async () => {
  const stored = new Map<string, unknown>();
  const toolsFor = createBundleTools({
    bundleFiles: {
      put: async (key, content) => void stored.set(key, content),
      remove: async (key) => void stored.delete(key),
      get: () => Promise.reject(new ObjectNotFoundError('gone')),
      withFile: () => Promise.reject(new ObjectNotFoundError('gone')),
    },
    writeArtefact: () => Promise.reject(new Error('no file is made')),
    children: 1,
  });
  const attempt = () =>
    toolsFor({ jobId: JOB }, 'watch-0', { signal: new AbortController().signal, onProgress: () => {} });
  const successorBegan = Promise.withResolvers<void>();
  const givenUp = attempt().withPicture(Uint8Array.of(1), () => successorBegan.promise);
  await attempt().withPicture(Uint8Array.of(2), async ({ storageKey }) => {
    successorBegan.resolve();
    await givenUp;
    expect([...stored]).toEqual([[storageKey, Uint8Array.of(2)]]);
    expect(ownerOf(storageKey)).toBe(JOB);
  });
  expect([...stored]).toEqual([]);
});
