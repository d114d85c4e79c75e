import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const directory = new URL('../../src/endpoints/', import.meta.url);
const files = globSync('*/fixtures/**/*.json', { cwd: directory });

test('fixtures contain no floating-point noise', () => {
  expect(files.length).toBeGreaterThan(100);
  const noisy = files.flatMap((file) =>
    (readFileSync(new URL(file, directory), 'utf8').match(/\d\.\d{9,}/g) ?? []).map((number) => `${file}: ${number}`),
  );
  expect(noisy).toEqual([]);
});
