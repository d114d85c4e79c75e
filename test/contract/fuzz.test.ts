/** A short run of `npm run fuzz` with a new seed: schemathesis finds no response that the document does not describe. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeWith } from '../support/needs.ts';

const SECONDS = 30;
/** The service starts, its organisations are made, and it stops. */
const TIMEOUT_MS = 420_000;
const projectDirectory = fileURLToPath(new URL('../..', import.meta.url));

describeWith('schemathesis', 'fuzzing', () => {
  it(
    `schemathesis finds every response as documented for ${SECONDS} s`,
    async () => {
      const { code, output } = await fuzz();
      // The output names the seed that replays the run.
      expect({ code, output: code === 0 ? '' : output.slice(-8_000) }).toEqual({ code: 0, output: '' });
      expect(output).toMatch(/^Seed \d+: npm run fuzz -- --seed \d+/m);
    },
    TIMEOUT_MS,
  );
});

function fuzz(): Promise<{ code: number | null; output: string }> {
  const run = spawn(process.execPath, ['scripts/fuzz-contract.ts', '--seconds', String(SECONDS)], {
    cwd: projectDirectory,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS - 30_000,
  });
  let output = '';
  for (const stream of [run.stdout, run.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    run.once('error', reject).once('close', (code) => resolve({ code, output }));
  });
}
