/** A process that reads strangers' bytes opens only four of libvips' formats, and no file by its path. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSourceFiles } from '../../../architecture/source-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'decoder-loaders-'));
const child = fork(new URL('../../support/restricted-reader.ts', import.meta.url), {
  execArgv: ['--disable-warning=ExperimentalWarning'],
  env: {},
});
const plain = sharp({ create: { width: 16, height: 16, channels: 3, background: '#777777' } });
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="9" height="9"/></svg>';
const files: Record<string, () => Promise<Uint8Array> | Uint8Array> = {
  jpeg: () => plain.clone().jpeg().toBuffer(),
  png: () => plain.clone().png().toBuffer(),
  webp: () => plain.clone().webp().toBuffer(),
  avif: () => plain.clone().avif().toBuffer(),
  gif: () => plain.clone().gif().toBuffer(),
  tiff: () => plain.clone().tiff().toBuffer(),
  svg: () => Buffer.from(svg),
  'svg behind xml': () => Buffer.from(`<?xml version="1.0" encoding="UTF-8"?><!-- -->${svg}`),
};
const ACCEPTED = ['jpeg', 'png', 'webp', 'avif'];

beforeAll(async () => {
  for (const [name, make] of Object.entries(files)) writeFileSync(join(folder, name), await make());
});
afterAll(() => {
  child.kill();
  rmSync(folder, { recursive: true });
});

test.each(Object.keys(files))('the decoder reads %s from memory if it is accepted, never by a path', async (name) => {
  const path = join(folder, name);
  // Where nothing is restricted it can be read: the refusal below is not one of a damaged file.
  expect((await sharp(path).raw().toBuffer()).length).toBeGreaterThan(0);
  child.send(path);
  const [answer] = (await once(child, 'message')) as unknown[];
  expect(answer).toEqual({ fromMemory: ACCEPTED.includes(name), fromPath: false });
});

test('every process that loads libvips restricts it first', () => {
  const sources = readSourceFiles('src/**/*.ts');
  const entries = sources.filter(
    ({ path, text }) => path.endsWith('/child-main.ts') && /process\.on\('message'/.test(text),
  );
  const users = sources
    .filter(({ imports }) => imports.some(({ target }) => target === 'sharp'))
    .map(({ path }) => path);
  expect(entries.map(({ path }) => path)).toContain('src/inference/runtime/child-main.ts');
  expect(entries.filter(({ text }) => !/^restrictDecoder\(\);$/m.test(text)).map(({ path }) => path)).toEqual([]);
  const others = users.filter(
    (path) => !path.startsWith('src/inference/toolkit/images/') && !path.endsWith('/child-main.ts'),
  );
  expect(others).toEqual([]);
});
