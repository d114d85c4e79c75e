/** What a command reads and writes. Tests and `main.ts` construct it. */
import { stripVTControlCharacters } from 'node:util';

export interface Terminal {
  /** Results. */
  print(line: string): void;
  /** Progress and problems. */
  note(line: string): void;
  /** Replaces the last progress; without a terminal, every change is a line of its own. */
  progress(text: string): void;
  /** Ends the progress: the next note gets a line of its own. */
  endProgress(): void;
  /** Reads one line without showing it, or the standard input if it is no terminal. */
  readSecret(question: string): Promise<string>;
  environment: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  sleep(durationMs: number): Promise<void>;
  now: () => Date;
}

export type Row = readonly (string | number | boolean | null | undefined)[];

/** Columns as wide as their widest cell. */
export function table(header: readonly string[], rows: readonly Row[]): string[] {
  const cells = [
    header,
    ...rows.map((row) => row.map((cell) => safe(cell === null || cell === undefined ? '–' : String(cell)))),
  ];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** What the service sends cannot steer the terminal. */
export function safe(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, ' ');
}

export function timeOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace('T', ' ').slice(0, 19);
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
