/** Files of price books, generated: an invented market whose prices follow a known rule, and invented repairs. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invented } from '../../src/price-books/invented-market.ts';
import { COLUMNS } from '../../src/price-books/observation.ts';
import { inventedRepairs } from '../../src/price-books/repairs/invented-repairs.ts';
import { REPAIR_COLUMNS, type RepairColumn } from '../../src/price-books/repairs/repair-entry.ts';

export const HEADER = COLUMNS.join(',');

/** Rows of an invented market in pounds, all different. */
export const inventedRows = (count = 600) => invented({ count, country: 'GB', currency: 'GBP' });

/** Writes a file into a folder of its own; returns its path. */
export function writePriceFile(content: string | Buffer): string {
  const path = join(mkdtempSync(join(tmpdir(), 'price-file-')), 'prices.csv');
  writeFileSync(path, content);
  return path;
}

export const csvOf = (rows: readonly string[]) => `${[HEADER, ...rows].join('\n')}\n`;

/** Rows of an invented book of repairs in pounds. */
export const repairRows = () => inventedRepairs({ country: 'GB', currency: 'GBP' });

export const repairsCsvOf = (rows: readonly string[]) => `${[REPAIR_COLUMNS.join(','), ...rows].join('\n')}\n`;

/** A row of a book of repairs in pounds, of the given fields. */
export const repairRow = (values: Partial<Record<RepairColumn, string | number>>) =>
  REPAIR_COLUMNS.map(
    (name) => ({ valid_from: '2026-06-01', country: 'GB', currency: 'GBP', ...values })[name] ?? '',
  ).join(',');
