/** The project's source files, and what they import. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  /** A package, `node:` module, or path from the project's root. */
  target: string;
  /** Whether only types are imported: nothing of the module runs. */
  typeOnly: boolean;
}

export interface SourceFile {
  /** From the project's root, with slashes. */
  path: string;
  text: string;
  imports: Import[];
}

const IMPORT =
  /^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

export function readSourceFiles(pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: PROJECT_DIRECTORY })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(PROJECT_DIRECTORY, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

export function importsOf(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? '';
    const target = specifier.startsWith('.') ? posix.join(dirname(path), specifier) : specifier;
    return { target, typeOnly: type !== undefined };
  });
}
