/**
 * `npm run test:production`: the tests of the store, of uploads, workflows and workers, and the e2e and fault suites against
 * what runs in production: Temporal's own server on PostgreSQL with several history shards, and files in a bucket of a server
 * of the S3 protocol. `-- test/e2e -t 'kill'` runs some of them: arguments go to vitest.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SUITES = [
  'test/platform/storage',
  'test/uploads',
  'test/api/artefacts',
  'test/api/input-files',
  'test/api/storage-failures',
  'test/api/upload',
  'test/releases',
  'test/workflows',
  'test/workers',
  'test/e2e',
  'test/faults',
];

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const node = (path: string) => [process.execPath, join(projectDirectory, path)];
const [program = '', ...args] = [
  ...node('scripts/temporal-server.ts'),
  ...node('scripts/s3-server.ts'),
  ...node('test/support/run-tests.ts'),
  ...(given.length > 0 ? given : SUITES),
];
process.exitCode = spawnSync(program, args, { cwd: projectDirectory, stdio: 'inherit' }).status ?? 1;
