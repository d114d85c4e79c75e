/**
 * The lanes of the tests. `npm test` runs `core`: every file that no other lane names. `npm run test:all` runs all of
 * them, and `npm run test:all -- --lane browser` one.
 */
export interface Lane {
  /** What the lane is for, as `npm run test:all -- --help` prints it. */
  purpose: string;
  /** Paths or globs from the project's root. */
  files: readonly string[];
}

export const CORE = 'core';

/** In the order in which they start: the longest first, so that none of their files runs on alone at the end. */
export const LANES = {
  training: {
    purpose: 'a training from data to an installed model, and the memory that pictures leave behind',
    files: [
      'test/training/drawn-cars.test.ts',
      'test/inference/models/evaluate.test.ts',
      'test/bench/picture-memory.test.ts',
    ],
  },
  faults: {
    purpose: 'processes killed, starved and replaced under load',
    files: ['test/faults/!(table|bucket|temporal-shards).test.ts'],
  },
  processes: {
    purpose: "the whole service in processes of its own, with the shipped models; the README's tours; the image",
    files: [
      'test/e2e/whole-service.test.ts',
      'test/e2e/demo.test.ts',
      'test/e2e/live-spin.test.ts',
      'test/e2e/live-sight.test.ts',
      'test/e2e/management.test.ts',
      'test/e2e/remote-inference.test.ts',
      'test/e2e/rolling-deploy.test.ts',
      'test/docs/readme-tour.test.ts',
      'test/deploy/image.test.ts',
    ],
  },
  browser: {
    purpose: 'console, viewer and documentation in Chromium',
    files: [
      'test/e2e/console.test.ts',
      'test/e2e/viewer.test.ts',
      'test/e2e/documentation.test.ts',
      'test/console/pages.test.ts',
    ],
  },
  servers: {
    purpose: "servers that others wrote: S3, KServe and Temporal's production server",
    files: [
      'test/e2e/bucket.test.ts',
      'test/faults/bucket.test.ts',
      'test/faults/temporal-shards.test.ts',
      'test/platform/storage/s3-store.test.ts',
      'test/inference/runtime/kserve/mlserver.test.ts',
    ],
  },
  runtimes: {
    purpose: 'programs in Python and Go: the Python client, schemathesis, kustomize',
    files: [
      'test/clients/python.test.ts',
      'test/docs/programs.test.ts',
      'test/contract/fuzz.test.ts',
      'test/deploy/rendered.test.ts',
    ],
  },
} as const satisfies Record<string, Lane>;
