import { spawnSync } from 'node:child_process';
import { PROJECT_DIRECTORY } from '../src/embedded/service-processes.ts';

/** The measured commit; null outside a checkout. */
export function readCommit(): string | null {
  // Without the index lock of `git status`: somebody may be committing.
  const git = (...args: string[]) =>
    spawnSync('git', ['--no-optional-locks', ...args], { cwd: PROJECT_DIRECTORY, encoding: 'utf8' }).stdout?.trim();
  const commit = git('rev-parse', '--short', 'HEAD');
  if (!commit) return null;
  return git('status', '--porcelain', '--', 'src', 'migrations') ? `${commit} and changes` : commit;
}
