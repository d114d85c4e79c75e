/** Runs Python in the folder of its client. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

export const CLIENT = join(PROJECT_DIRECTORY, 'clients/python');
/** A time-out means a hang: Python starts slowly beside the workers of other tests. */
export const TIMEOUT_MS = 600_000;

/** Resolves with what the program printed. @throws with it, if the program failed. */
export async function runPython(python: string, args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const program = spawn(python, args, {
    cwd: CLIENT,
    // Without colours, which some environments demand of every program.
    env: { ...process.env, FORCE_COLOR: undefined, PY_COLORS: '0', PYTHONDONTWRITEBYTECODE: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    program.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`${python} ${args.join(' ')} ended with ${code}:\n${output.slice(-8_000)}`);
  return output;
}
