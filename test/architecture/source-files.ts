/** The project's source files and their imports. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  /** A package, `node:` module, or path from the project's root. */
  target: string;
  /** Whether only types are imported, so that the module does not run. */
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

/** The files of one circle of imports, the first repeated at the end; empty when there is none. */
export function findImportCircle(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): string[] => {
    const start = path.indexOf(name);
    if (start >= 0) return [...path.slice(start), name];
    const file = byPath.get(name);
    if (!file || done.has(name)) return [];
    path.push(name);
    for (const { target } of file.imports) {
      const circle = visit(target);
      if (circle.length > 0) return circle;
    }
    path.pop();
    done.add(name);
    return [];
  };
  for (const { path: name } of files) {
    const circle = visit(name);
    if (circle.length > 0) return circle;
  }
  return [];
}
