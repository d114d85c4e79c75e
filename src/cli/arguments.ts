/** Reads a command line by the table of commands. */
import { parseArgs } from 'node:util';
import { COMMON_OPTIONS, type Command, type OptionSpecification, type Options } from './command.ts';
import { UsageError } from './exit-codes.ts';

export interface ParsedLine {
  command: Command;
  args: Record<string, string>;
  rest: string[];
  options: Options;
}

/** Null: the caller asked for the list of commands. @throws UsageError */
export function parseLine(commands: readonly Command[], line: readonly string[]): ParsedLine | null {
  const words = wordsOf(commands, line);
  if (words[0] === 'help') return parseLine(commands, [...line.filter((word) => word !== 'help'), '--help']);
  if (words.length === 0) {
    parseOptions('', {}, line);
    return null;
  }
  const command = findCommand(commands, words);
  if (!command) throw new UsageError(unknownCommand(commands, words));
  const { values, positionals } = parseOptions(`${command.name} `, command.options, line);
  const given = positionals.slice(command.name.split(' ').length);
  if (values.help === true) return { command, args: {}, rest: [], options: values };
  return { command, ...assign(command, given), options: values };
}

/** The line without options and their values, of whatever command they are. */
export function wordsOf(commands: readonly Command[], line: readonly string[]): string[] {
  const options = parserOptions(Object.assign({}, ...commands.map((command) => command.options)));
  return parseArgs({ args: [...line], options, allowPositionals: true, strict: false }).positionals;
}

export function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

function parserOptions(ofCommand: Readonly<Record<string, OptionSpecification>>) {
  const specifications: Record<string, OptionSpecification> = { ...COMMON_OPTIONS, ...ofCommand };
  return Object.fromEntries(
    Object.entries(specifications).map(([name, { value, multiple = false }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple,
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
}

function parseOptions(name: string, ofCommand: Command['options'], line: readonly string[]) {
  try {
    const options = parserOptions(ofCommand);
    const { values, positionals } = parseArgs({ args: [...line], options, allowPositionals: true });
    return { values: values as Options, positionals };
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See: vis ${name}--help`);
  }
}

function assign({ name, arguments: expected }: Command, given: readonly string[]) {
  const args: Record<string, string> = {};
  let next = 0;
  for (const argument of expected) {
    if (argument.rest) return { args, rest: given.slice(next) };
    const value = given[next];
    if (value === undefined) throw new UsageError(`vis ${name} needs <${argument.name}>. See: vis ${name} --help`);
    args[argument.name] = value;
    next += 1;
  }
  if (given.length > next) throw new UsageError(`vis ${name} does not take "${given[next]}". See: vis ${name} --help`);
  return { args, rest: [] };
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): string {
  const below = commands.filter(({ name }) => name.startsWith(`${words[0]} `)).map(({ name }) => `vis ${name}`);
  if (below.length > 0) return `Which one: ${below.join(', ')}?`;
  return `There is no command "${words[0]}". See: vis --help`;
}

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => signatureOf(command).length));
  const lines = commands.map((command) => `  vis ${signatureOf(command).padEnd(width)}  ${command.summary}`);
  return [
    'The command line of the Vehicle Inference Service.',
    '',
    ...lines,
    '',
    'vis <command> --help lists its options; vis --version says which release this is.',
  ].join('\n');
}

export function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS } as Record<string, OptionSpecification>);
  const names = options.map(([name, { value }]) => `--${name}${value === undefined ? '' : ` <${value}>`}`);
  const width = Math.max(...names.map(({ length }) => length));
  const lines = options.map(([, { summary, multiple }], index) => {
    const repeats = multiple ? '; may be repeated' : '';
    return `  ${names[index]?.padEnd(width)}  ${summary}${repeats}`;
  });
  return [`vis ${signatureOf(command)}`, '', `${command.summary}.`, '', ...lines].join('\n');
}

function signatureOf({ name, arguments: expected }: Command): string {
  return [name, ...expected.map((argument) => (argument.rest ? `[${argument.name} …]` : `<${argument.name}>`))].join(
    ' ',
  );
}
