import { hash } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { CORE, LANES } from './test/lanes.ts';

const laneFiles = Object.values(LANES).flatMap(({ files }): readonly string[] => files);

/** Rooms of `core` with the longest files, which wait for other processes. */
const SLOW_ROOMS = /\/test\/(?:contract|inference|workers|workflows)\//;

/**
 * Lanes in their order, and slow rooms first, so that no long file runs on alone at the end. Within each, an order that the seed
 * determines: no file may depend on what ran before it.
 */
class Shuffled extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seed = process.env.TEST_SHUFFLE_SEED ?? '';
    const lanes = [...Object.keys(LANES), CORE];
    const keyOf = ({ project, moduleId }: TestSpecification) => [
      lanes.indexOf(project.name),
      SLOW_ROOMS.test(moduleId) ? 0 : 1,
      hash('sha256', seed + relative(import.meta.dirname, moduleId)),
    ];
    const keyed = files.map((file) => ({ file, key: keyOf(file).join(' ') }));
    return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ file }) => file);
  }
}

export default defineConfig({
  test: {
    // Each worker process loads a module once for all of its files, as Node itself does: types are stripped, nothing is bundled.
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than there are cores: about half of a long file's time is spent waiting for other processes. A worker that has loaded
    // the networks of many files holds up to 2.5 GB.
    maxWorkers: Math.max(1, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 3e9))),
    // A time-out means a hang. Whoever needs longer says why.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    setupFiles: ['test/support/own-bucket.ts'],
    sequence: { sequencer: Shuffled },
    reporters: ['default', './test/support/test-report.ts'],
    projects: [
      { extends: true, test: { name: CORE, include: ['test/**/*.test.ts'], exclude: laneFiles } },
      ...Object.entries(LANES).map(([name, { files }]) => ({
        extends: true as const,
        // These start several processes at once, which load networks, on a machine that may do much else.
        test: { name, include: [...files], testTimeout: 300_000, hookTimeout: 300_000 },
      })),
    ],
  },
});
