import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LANES } from '../lanes.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const lanes = Object.entries(LANES).map(([name, { files }]) => ({
  name,
  patterns: files.map((pattern) => ({ pattern, paths: globSync(pattern, { cwd: PROJECT_DIRECTORY }) })),
}));
const pathsOf = ({ patterns }: (typeof lanes)[number]) => patterns.flatMap(({ paths }) => paths);

describe.each(lanes)('the lane $name', (lane) => {
  it('a lane names only files that exist', () => {
    expect(lane.patterns.filter(({ paths }) => paths.length === 0)).toEqual([]);
  });

  it('a lane shares no file with another lane', () => {
    const others = lanes.filter(({ name }) => name !== lane.name).flatMap(pathsOf);
    expect(pathsOf(lane).filter((path) => others.includes(path))).toEqual([]);
  });

  it('a lane is run by .ci/run and explained in CONTRIBUTING.md', () => {
    const read = (path: string) => readFileSync(join(PROJECT_DIRECTORY, path), 'utf8');
    expect(read('.ci/run')).toContain('npm run test:all');
    expect(read('CONTRIBUTING.md')).toContain(`| \`${lane.name}\` |`);
  });
});
