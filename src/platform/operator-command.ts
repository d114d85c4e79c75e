/** Programs of operators as functions of their words: the program is one line, and whoever tests them needs no process for each call. */
import { readConfig } from './config/config.ts';

export interface CommandContext {
  databaseUrl: string;
  now: Date;
  /** What the program returns: its standard output. */
  print: (text: string) => void;
  /** What it has to say besides: its standard error. */
  note: (text: string) => void;
}

/** Rejects with a message for the operator. */
export type OperatorCommand = (words: readonly string[], context: CommandContext) => Promise<void>;

/** Runs the words of this process, and exits with status 1 where the command rejects. */
export async function runAsProgram(command: OperatorCommand, name: 'credits' | 'subscriptions'): Promise<void> {
  try {
    const databaseUrl = readConfig(name).DATABASE_URL;
    await command(process.argv.slice(2), {
      databaseUrl,
      now: new Date(),
      print: (text) => console.log(text),
      note: (text) => console.error(text),
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
