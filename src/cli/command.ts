/** A command: its words, what it accepts, and what it does. Parsing, help and completions derive from it. */
import { type Row, type Terminal, table } from './terminal.ts';

export interface OptionSpecification {
  /** Absent: a switch. Shown as its placeholder in the help. */
  value?: string;
  /** May be given several times. */
  multiple?: boolean;
  summary: string;
  /** For completions. */
  values?: readonly string[];
}

export interface Argument {
  name: string;
  /** Takes all remaining arguments; none is fine. */
  rest?: boolean;
  values?: readonly string[];
}

export interface Invocation {
  terminal: Terminal;
  /** By name of the argument; those of a rest in their order. */
  args: Readonly<Record<string, string>>;
  rest: readonly string[];
  options: Options;
}

export interface Options {
  [name: string]: string | boolean | readonly string[] | undefined;
}

export interface Command {
  /** `jobs list` */
  name: string;
  summary: string;
  arguments: readonly Argument[];
  options: Readonly<Record<string, OptionSpecification>>;
  run(invocation: Invocation): Promise<void>;
}

/** Accepted by every command. */
export const COMMON_OPTIONS = {
  'base-url': { value: 'URL', summary: 'address of the service' },
  json: { summary: 'JSON for machines, one object a line' },
  help: { summary: 'this help' },
} as const satisfies Record<string, OptionSpecification>;

/** A list: a table for people, a line of JSON for each item for machines. */
export function showList<Item>(
  { terminal, options }: Pick<Invocation, 'terminal' | 'options'>,
  items: readonly Item[],
  header: readonly string[],
  rowOf: (item: Item) => Row,
): void {
  const lines = options.json ? items.map((item) => JSON.stringify(item)) : table(header, items.map(rowOf));
  for (const line of lines) terminal.print(line);
}

/** The value of an option that takes one. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function connectionOf(options: Options): { 'base-url'?: string } {
  const url = textOf(options, 'base-url');
  return url === undefined ? {} : { 'base-url': url };
}
