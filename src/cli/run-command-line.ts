/** One run of `vis`, from its arguments to its exit code. */
import { helpOf, overview, parseLine } from './arguments.ts';
import type { Command } from './command.ts';
import { accountCommands } from './commands/account.ts';
import { eventCommands } from './commands/events.ts';
import { jobCommands } from './commands/jobs.ts';
import { runCommand } from './commands/run.ts';
import { completionScript, completionsOf, SHELLS } from './completions.ts';
import { describeFailure, EXIT, type ExitCode, ReportedFailure, UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** As in the package's manifest. */
export const VERSION = '0.1.0';

const completionCommand: Command = {
  name: 'completions',
  summary: 'Print the completions of a shell',
  arguments: [{ name: 'shell', values: SHELLS }],
  options: {},
  async run({ terminal, args }) {
    const shell = SHELLS.find((known) => known === args.shell);
    if (!shell) throw new UsageError(`Known shells are: ${SHELLS.join(', ')}`);
    terminal.print(completionScript(shell));
  },
};

export const COMMANDS: readonly Command[] = [
  runCommand,
  ...jobCommands,
  ...eventCommands,
  ...accountCommands,
  completionCommand,
];

export async function runCommandLine(line: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    // What the shells call; it is no command of people.
    if (line[0] === 'complete') {
      for (const word of completionsOf(COMMANDS, line.slice(line[1] === '--' ? 2 : 1))) terminal.print(word);
      return EXIT.ok;
    }
    if (line.length === 1 && line[0] === '--version') {
      terminal.print(VERSION);
      return EXIT.ok;
    }
    const parsed = parseLine(COMMANDS, line);
    if (parsed === null) terminal.print(overview(COMMANDS));
    else if (parsed.options.help) terminal.print(helpOf(parsed.command));
    else await parsed.command.run({ terminal, ...parsed });
    return EXIT.ok;
  } catch (error) {
    terminal.endProgress();
    if (error instanceof ReportedFailure) return error.code;
    if (terminal.signal.aborted) return EXIT.interrupted;
    const { code, text } = describeFailure(error);
    terminal.note(`vis: ${text}`);
    return code;
  }
}
