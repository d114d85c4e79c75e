/** What `scripts/build-console.mjs` made of the console: its size, and that nothing in it needs a looser policy. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
}

const DIST = `${PROJECT_DIRECTORY}console/dist/`;
/** Of script, compressed, before the first page is drawn. 200 kB are promised; what is added next must fit too. */
const FIRST_LOAD_BYTES = 190_000;

const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8')) as Record<string, Chunk>;
const PAGES = Object.keys(manifest).filter((name) => name.startsWith('src/pages/'));

function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (!chunk) throw new Error(`the build has no ${name}`);
  if (seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const imported of chunk.imports ?? []) filesOf(imported, seen);
  return seen;
}

it('the build has a chunk for each page', () => expect(PAGES.length).toBeGreaterThan(10));

it.each(PAGES)('the first load of %s takes less than 190 kB of script', (page) => {
  const files = [...new Set([...filesOf('index.html'), ...filesOf(page)])];
  const bytes = files.map((file) => statSync(`${DIST}${file}.gz`).size).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
});

it('the console page has no script and no style of its own, and places for settings and nonce', () => {
  const page = readFileSync(`${DIST}index.html`, 'utf8');
  expect(page).not.toMatch(/<style|<script(?![^>]*src=)|\sstyle=|\son\w+=/);
  for (const place of ['%CONSOLE_SETTINGS%', '%CONSOLE_NONCE%']) expect(page.split(place)).toHaveLength(2);
  for (const [, path = ''] of page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g))
    expect(existsSync(DIST + path)).toBe(true);
});
