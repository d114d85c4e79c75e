/** The secrets of a data folder are created once, and only its owner can read them. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDevelopmentSecrets } from '../../src/embedded/development-secrets.ts';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'secrets-')), 'secrets.json');

it('development secrets are the same at the next start, and different in another folder', () => {
  const path = newPath();
  const first = readDevelopmentSecrets(path);
  expect(readDevelopmentSecrets(path)).toEqual(first);
  const other = readDevelopmentSecrets(newPath());
  expect(other.sealingKey).not.toBe(first.sealingKey);
  expect(other.clientSecret).not.toBe(first.clientSecret);
  expect(other.tokenSigningKey).not.toEqual(first.tokenSigningKey);
});

it('development secrets are readable by their owner only, and long enough for production', () => {
  const path = newPath();
  const { sealingKey, clientSecret } = readDevelopmentSecrets(path);
  expect(statSync(path).mode & 0o077).toBe(0);
  expect([sealingKey.length, clientSecret.length]).toEqual([43, 32]);
  expect(sealingKey).not.toContain(',');
});

it('development secrets of an earlier release get what they lack, and keep the rest', () => {
  const path = newPath();
  const { password, ...earlier } = readDevelopmentSecrets(path);
  writeFileSync(path, JSON.stringify(earlier));
  const completed = readDevelopmentSecrets(path);
  expect(completed).toEqual({ ...earlier, password: expect.stringMatching(/^[\w-]{12}$/) });
  expect(completed.password).not.toBe(password);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(completed);
});
