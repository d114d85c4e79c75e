/** Calls a program of operators as a function, and returns what the program would. */
import type { OperatorCommand } from '../../src/platform/operator-command.ts';

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

export async function callCommand(
  command: OperatorCommand,
  words: readonly string[],
  databaseUrl: string,
): Promise<Ended> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  let status = 0;
  try {
    await command(words, {
      databaseUrl,
      now: new Date(),
      print: (text) => stdout.push(text),
      note: (text) => stderr.push(text),
    });
  } catch (error) {
    stderr.push((error as Error).message);
    status = 1;
  }
  return { status, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
}
