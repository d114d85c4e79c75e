/** `npm run -s models:evaluate` on the clusters that come along and one drawing. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Verdict } from '../../../training/evaluate-score.ts';

const SCRIPT = fileURLToPath(new URL('../../../training/evaluate.ts', import.meta.url));

test('one command says how well an endpoint reads, and what it leaves out', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vehicle-inference-evaluate-'));
  try {
    const json = join(directory, 'verdicts.json');
    const options = [
      '--only',
      'dashboard.read',
      '--count',
      '1',
      '--readers',
      'product,print',
      '--no-large',
      '--json',
      json,
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...options], { encoding: 'utf8' });
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^## dashboard\.read by dashboard-reader@/m);
    expect(stdout).toMatch(
      /^\| examples, 4 \(1 with nothing to read\) +\| product +\| 3 of 3: 100 % \(44 to 100\) +\| 0\.0 %/m,
    );
    expect(stdout).toMatch(/^\| examples, 4 .*\| PP-OCR, whole picture +\| \d of 3/m);
    expect(stdout).toContain('Photographs: none given, left out');
    expect(stdout).toContain('Clusters held out of training: not asked for');
    expect(stdout).toMatch(/expected calibration error 0\.\d/);
    const outcomes = JSON.parse(readFileSync(json, 'utf8')) as {
      reader: string;
      set: { name: string };
      verdicts: Verdict[];
    }[];
    const other = outcomes.find(({ reader, set }) => reader === 'product' && set.name === 'other print');
    expect(other?.verdicts).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);
