/**
 * The programs in the documentation. Each fenced block of bash, TypeScript or Python is either run by a test, and then says what it must print
 * (`<!-- prints: regular expression -->` on the line after it), or says why it is not run (```` ```bash no-run: reason ````).
 */
import { globSync, readFileSync } from 'node:fs';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

export interface Snippet {
  /** `README.md:42` */
  where: string;
  /** Null when it is run. */
  notRunBecause: string | null;
  commands: string;
  prints: RegExp | null;
}

export function documents(): string[] {
  return globSync(['*.md', 'docs/**/*.md', 'clients/*/*.md'], { cwd: PROJECT_DIRECTORY }).toSorted();
}

export function readDocument(document: string): string {
  return readFileSync(`${PROJECT_DIRECTORY}${document}`, 'utf8');
}

export type Language = 'bash' | 'ts' | 'python';

/** @throws for a block that says neither what it prints nor why it is not run. */
export function snippetsOf(document: string, language: Language = 'bash'): Snippet[] {
  const text = readDocument(document);
  const block = new RegExp(`^\`\`\`${language}(.*)\\n([\\s\\S]*?)^\`\`\`\\n(?:<!-- prints: (.*) -->)?`, 'gm');
  return [...text.matchAll(block)].map((match) => {
    const [, option = '', commands = '', prints] = match;
    const where = `${document}:${text.slice(0, match.index).split('\n').length}`;
    const notRunBecause = /^ no-run: (\S.*)$/.exec(option)?.[1] ?? null;
    if (option !== '' && notRunBecause === null) throw new Error(`${where}: "${option}" is not "no-run: <reason>"`);
    if (notRunBecause === null && prints === undefined)
      throw new Error(`${where}: must say what it prints, or "no-run"`);
    return { where, notRunBecause, commands, prints: prints === undefined ? null : new RegExp(prints, 'm') };
  });
}
