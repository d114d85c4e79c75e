/** Completions of shells. Each script asks the same table of commands that parses the line. */
import { findCommand, wordsOf } from './arguments.ts';
import { COMMON_OPTIONS, type Command, type OptionSpecification } from './command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The words that may follow `words`, of which the last is incomplete. Nothing where a file belongs. */
export function completionsOf(commands: readonly Command[], words: readonly string[]): string[] {
  const incomplete = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  return candidates(commands, before, incomplete)
    .filter((word) => word.startsWith(incomplete))
    .toSorted();
}

function candidates(commands: readonly Command[], before: readonly string[], incomplete: string): string[] {
  const plain = wordsOf(commands, before);
  const command = findCommand(commands, plain);
  if (!command) {
    const deeper = commands.filter(({ name }) => plain.every((word, index) => name.split(' ')[index] === word));
    return [...new Set(deeper.map(({ name }) => name.split(' ')[plain.length] ?? ''))];
  }
  const options: Record<string, OptionSpecification> = { ...command.options, ...COMMON_OPTIONS };
  const previous = options[(before.at(-1) ?? '').replace(/^--/, '')];
  if (previous?.value !== undefined) return [...(previous.values ?? [])];
  if (incomplete.startsWith('-')) return Object.keys(options).map((name) => `--${name}`);
  const position = plain.length - command.name.split(' ').length;
  return [...(command.arguments[position]?.values ?? [])];
}

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

const SCRIPTS: Record<Shell, string> = {
  bash: `_vis() {
  mapfile -t COMPREPLY < <(vis complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _vis vis`,
  zsh: `#compdef vis
_vis() {
  local -a found
  found=("\${(@f)$(vis complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _vis vis`,
  fish: `complete -c vis -a '(vis complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};
