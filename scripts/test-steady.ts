/**
 * `npm run test:steady`: runs `npm test` three times beside two busy loops, each time with another order of files, time zone, locale and
 * umask. It ends with one line for each run, and with 0 only if all of them were green. `-- --lane faults` runs another lane so:
 * arguments go to run-tests.ts.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MACHINES = [
  // Days ahead of and behind UTC, another one within a day; decimal commas, a dotless i, other digits and years.
  { TZ: 'Pacific/Kiritimati', LC_ALL: 'de_DE.UTF-8', umask: 0o022 },
  { TZ: 'Pacific/Marquesas', LC_ALL: 'tr_TR.UTF-8', umask: 0o077 },
  { TZ: 'Asia/Kathmandu', LC_ALL: 'ar_EG.UTF-8', umask: 0o002 },
];
const BUSY_LOOPS = 2;
const projectDirectory = fileURLToPath(new URL('..', import.meta.url));

// They end with this process, even if it is killed: their standard input closes.
const BUSY = `process.stdin.resume().on('end', () => process.exit());
(function spin() { const end = Date.now() + 50; while (Date.now() < end); setImmediate(spin); })();`;
const loops: ChildProcess[] = Array.from({ length: BUSY_LOOPS }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] }),
);

const outcomes = MACHINES.map(({ umask, ...environment }) => {
  process.umask(umask);
  const seed = String(randomInt(1, 2 ** 31));
  const startedAtMs = performance.now();
  const { status } = spawnSync(
    process.execPath,
    [join(projectDirectory, 'test/support/run-tests.ts'), '--shuffle-seed', seed, ...process.argv.slice(2)],
    { cwd: projectDirectory, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...environment } },
  );
  return { seed, zone: environment.TZ, green: status === 0, minutes: (performance.now() - startedAtMs) / 60_000 };
});

for (const loop of loops) loop.kill();
console.log('');
for (const { seed, zone, green, minutes } of outcomes) {
  console.log(`${green ? 'green' : 'RED  '}  --shuffle-seed ${seed}  ${zone}  ${minutes.toFixed(1)} min`);
}
process.exitCode = outcomes.every(({ green }) => green) ? 0 : 1;
