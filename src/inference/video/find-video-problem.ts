/** Whether videos can be decoded here: the package for it is installed apart, because it contains libraries under the GPL. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { forkInSandbox } from '../runtime/sandbox.ts';

/** In a checkout, `npm ci` installs it. */
export const INSTALL_VIDEO_COMMAND = 'npm run video:install';

const LOAD_TIMEOUT_MS = 60_000;

/** Loads the package in a process of its own: a binary of another platform may end it. @returns what is wrong, or null */
export async function findVideoProblem(): Promise<string | null> {
  const child = forkInSandbox(new URL('./load-main.ts', import.meta.url), { stderr: 'pipe' });
  const timer = setTimeout(() => child.kill('SIGKILL'), LOAD_TIMEOUT_MS);
  const printed = child.stderr ? text(child.stderr) : '';
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code === 0) return null;
    const [, thrown] = /^\w*Error(?: \[\w+\])?: (.+)$/m.exec(await printed) ?? [];
    return thrown ?? `its process ended with ${signal ?? code}`;
  } catch (error) {
    // There never was a process.
    return (error as Error).message;
  } finally {
    clearTimeout(timer);
  }
}
