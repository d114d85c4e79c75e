/** The short form of the long run in docs/pictures.md: 150 pictures of all kinds, a third of them damaged. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeWith } from '../../../support/needs.ts';
import type { Report } from '../../support/many-pictures.ts';

describeWith('linux', 'many pictures', () => {
  test('150 pictures leave the worker and its child processes alive, and their memory bounded', async () => {
    const program = fileURLToPath(new URL('../../support/many-pictures.ts', import.meta.url));
    const flags = ['--disable-warning=ExperimentalWarning'];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, '150']);
    const { samples, ...ends } = JSON.parse(stdout) as Report;
    expect(ends).toMatchObject({ pictures: 150, retryable: 0, childrenLost: 0 });
    expect(ends.succeeded + ends.failed).toBe(150);
    expect(ends.succeeded).toBeGreaterThan(75);
    expect(ends.failed).toBeGreaterThan(15);
    expect(samples.length).toBeGreaterThan(20);
    // What each holds before it has work depends on the machine.
    const [first] = samples;
    for (const { workerMegabytes, childMegabytes } of samples) {
      expect(workerMegabytes - (first?.workerMegabytes ?? 0)).toBeLessThan(300);
      expect(childMegabytes).toHaveLength(2);
      expect(Math.max(...childMegabytes) - Math.max(...(first?.childMegabytes ?? []))).toBeLessThan(500);
    }
  }, 900_000);
});
