/** Reads the file of a price book as a stream: a row at a time, with its line. Whatever the book holds. */
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { adviceOnKind } from './book-columns.ts';
import { RowProblem } from './row-fields.ts';

/** The file as a whole cannot be imported; the message says why and what to do. */
export class PriceFileError extends Error {}

export interface RowFault {
  line: number;
  problem: string;
}

export type ReadRow<Row> = { kind: 'row'; line: number; row: Row } | ({ kind: 'problem' } & RowFault);

/** The columns of a file, and how a row is read from their values, trimmed. */
export interface RowFormat<Column extends string, Row> {
  columns: readonly Column[];
  /** @throws RowProblem */
  read: (values: Readonly<Record<Column, string>>) => Row;
}

/** No row is longer, in characters. */
const MOST_ROW_LENGTH = 10_000;

/** @throws PriceFileError */
export async function* readPriceFile<Column extends string, Row>(
  path: string,
  format: RowFormat<Column, Row>,
): AsyncGenerator<ReadRow<Row>> {
  const wantedWidth = format.columns.length;
  const widthProblem = (width: number) => `it has ${width} of ${wantedWidth} columns`;
  const parser = parse({ bom: true, info: true, relax_column_count: true, max_record_size: MOST_ROW_LENGTH });
  const text = decode(createReadStream(path));
  const feeding = feed(text, parser);
  let columns: readonly string[] | null = null;
  // A row is checked once the next one is there: only the last may be cut off.
  let short: { line: number; width: number } | null = null;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (columns === null) {
        columns = checkedHeader(record, format.columns);
        continue;
      }
      if (short) yield { kind: 'problem', line: short.line, problem: widthProblem(short.width) };
      short = null;
      if (record.length !== wantedWidth) short = { line: info.lines, width: record.length };
      else yield readRow(columns, record, info.lines, format);
    }
    await feeding;
  } catch (error) {
    throw asFileError(error);
  }
  if (columns === null) throw new PriceFileError('The file is empty.');
  if (short) {
    throw new PriceFileError(
      `The file ends in the middle of line ${short.line}: ${widthProblem(short.width)}. It is truncated; get it again.`,
    );
  }
}

/** Passes the text on as fast as the parser takes it. A failure reaches whoever reads the parser. */
async function feed(text: AsyncIterable<string>, parser: ReturnType<typeof parse>): Promise<void> {
  try {
    for await (const piece of text) {
      if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve));
      if (parser.destroyed) return;
    }
    parser.end();
  } catch (error) {
    parser.destroy(error as Error);
  }
}

async function* decode(file: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  for await (const chunk of file) {
    if (isFirst) refuseOtherFormats(chunk);
    isFirst = false;
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

/** Spreadsheets save these beside CSV. @throws PriceFileError */
function refuseOtherFormats(start: Buffer): void {
  if (start.subarray(0, 4).toString('latin1') === 'PK\x03\x04') {
    throw new PriceFileError('The file is a workbook or a ZIP archive. Export its sheet as CSV in UTF-8.');
  }
  const isMarked = ['fffe', 'feff'].includes(start.subarray(0, 2).toString('hex'));
  if (isMarked || start.subarray(0, 1_000).includes(0)) {
    throw new PriceFileError('The file is UTF-16, which spreadsheets call Unicode text. Save it as CSV in UTF-8.');
  }
}

function checkedHeader(record: readonly string[], columns: readonly string[]): readonly string[] {
  const names = record.map((name) => name.trim());
  const wanted = `The first line must name the columns ${columns.join(',')}`;
  if (names.length === 1 && /[;\t|]/.test(names[0] ?? '')) {
    throw new PriceFileError(`${wanted}, separated by commas. Export the file with commas.`);
  }
  const missing = columns.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => !columns.includes(name));
  if (missing.length === 0 && unknown.length === 0 && names.length === columns.length) return names;
  const advice = adviceOnKind(names, columns);
  if (advice !== null) throw new PriceFileError(advice);
  const faults = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`unknown: ${unknown.join(', ')}`] : []),
  ];
  throw new PriceFileError(`${wanted}, in any order. ${faults.join('; ') || 'A column is named twice'}.`);
}

function readRow<Column extends string, Row>(
  columns: readonly string[],
  record: readonly string[],
  line: number,
  { read }: RowFormat<Column, Row>,
): ReadRow<Row> {
  const values = Object.fromEntries(columns.map((name, at) => [name, (record[at] ?? '').trim()]));
  try {
    return { kind: 'row', line, row: read(values as Record<Column, string>) };
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error;
    return { kind: 'problem', line, problem: error.message };
  }
}

function asFileError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
    return new PriceFileError(`The file cannot be read: ${message}.`);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return new PriceFileError('The file is not UTF-8, but perhaps Latin-1 or Windows-1252. Save it as UTF-8.');
  }
  if (code?.startsWith('CSV_'))
    return new PriceFileError(`The file is not a CSV file, or it is truncated: ${message}.`);
  return error;
}
