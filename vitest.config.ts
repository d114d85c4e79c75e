import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { CORE, LANES } from './test/lanes.ts';

const laneFiles = Object.values(LANES).flatMap(({ files }): readonly string[] => files);

/** Longer lanes first, so that none of their files runs on alone at the end. Within a lane, by size or as shuffled. */
class LanesInOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [...Object.keys(LANES), CORE];
    const rank = ({ project }: TestSpecification) => order.indexOf(project.name);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Each worker process loads a module once for all of its files, as Node itself does: types are stripped, nothing is bundled.
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than there are cores: about half of a long file's time is spent waiting for other processes.
    maxWorkers: availableParallelism() + 1,
    // A time-out means a hang. Whoever needs longer says why.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['test/support/own-bucket.ts'],
    sequence: { sequencer: LanesInOrder },
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
