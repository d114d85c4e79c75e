/** What `scripts/build-console.mjs` made of the viewer: its size, and that nothing in it needs a looser policy. */
import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const DIST = `${PROJECT_DIRECTORY}viewer/dist/`;
/** Of script with its styles, compressed. */
const MOST_BYTES = 30_000;

const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8')) as Record<
  string,
  { file: string; imports?: string[]; css?: string[] }
>;

it('the components of the viewer are one file of less than 30 kB', () => {
  const { file = '', imports, css } = manifest['src/vehicle-viewer.ts'] ?? {};
  // Pages of others load it from an address of its own, next to which there is nothing else.
  expect([imports, css]).toEqual([undefined, undefined]);
  const bytes = statSync(`${DIST}${file}.gz`).size;
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(MOST_BYTES);
});

it('the viewer page has no script and no style of its own', () => {
  expect(readFileSync(`${DIST}index.html`, 'utf8')).not.toMatch(/<style|<script(?![^>]*src=)|\sstyle=|\son\w+=/);
});
