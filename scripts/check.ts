/**
 * `npm run check`: checks types, lint and format of the whole project, and ends with one line for each tool. All of them run
 * even when one fails, so that a contributor can fix everything at once.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Check {
  name: string;
  command: string;
  args: string[];
}

const CHECKS: Check[] = [
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'console', command: 'tsc', args: ['--noEmit', '--project', 'console'] },
  { name: 'viewer', command: 'tsc', args: ['--noEmit', '--project', 'viewer'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: 'biome', args: ['check', '--error-on-warnings'] },
];

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
// Outside npm, the tools are not on the PATH.
const path = `${projectDirectory}node_modules/.bin:${process.env.PATH ?? ''}`;

const outcomes = CHECKS.map(({ name, command, args }) => {
  const startedAtMs = performance.now();
  const { status, error } = spawnSync(command, args, {
    cwd: projectDirectory,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
  });
  if (error) console.error(`${command}: ${error.message}`);
  return { name, command, passed: status === 0, seconds: (performance.now() - startedAtMs) / 1000 };
});

console.log('');
for (const { name, command, passed, seconds } of outcomes) {
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name.padEnd(8)}${command} (${seconds.toFixed(1)} s)`);
}
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
