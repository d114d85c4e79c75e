/** What reads the pictures: the product, its networks without its logic, and Tesseract. */
import { spawnSync } from 'node:child_process';
import sharp from 'sharp';
import { readCpuSeconds } from '../bench/cpu.ts';
import { type ServedInProcess, serveInProcess } from '../bench/in-process.ts';
import { decodeImage } from '../src/inference/toolkit/images/decode-image.ts';
import { textOf } from '../src/inference/toolkit/text/print-rows.ts';
import { createTextReader, readsPrint } from '../src/inference/toolkit/text/text-lines.ts';

export interface Reader<Output> {
  /** As the table names it. */
  name: string;
  read: (jpeg: Buffer) => Promise<Output>;
}

/** CPU time of this process and of its children that have ended; null where that is not known. */
export function cpuMilliseconds(): number | null {
  const seconds = readCpuSeconds({ own: process.pid })?.own;
  return seconds === undefined ? null : 1000 * seconds;
}

/** The endpoints as a child process of a worker runs them, with one thread, but in this process. */
export function openProduct(modelsDirectory: string): Promise<(endpoint: string) => Promise<ServedInProcess>> {
  // As child processes decode, except that they refuse SVG, of which drawings are made.
  sharp.concurrency(1);
  return serveInProcess(modelsDirectory);
}

/** The lines that `models/print-reader` finds in the whole picture. */
export async function openPrint(open: (endpoint: string) => Promise<ServedInProcess>): Promise<Reader<string[]>> {
  const { model, version } = await open('document.read');
  if (!readsPrint(model)) throw new Error(`${version} does not read print`);
  const readText = createTextReader(model);
  return {
    name: 'PP-OCR, whole picture',
    read: async (jpeg) => (await readText(await decodeImage(jpeg))).map(({ characters }) => textOf(characters)),
  };
}

/** Sparse text in no order: the mode that finds most in a photograph. */
const SPARSE_TEXT = '11';

/** Debian's `tesseract-ocr`, one thread. Null when it is not installed. */
export function openTesseract(): Reader<string[]> | null {
  const { status, stdout } = spawnSync('tesseract', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const environment = { ...process.env, OMP_THREAD_LIMIT: '1' };
  return {
    name: `Tesseract ${/\d[\d.]*/.exec(stdout)?.[0] ?? ''}`,
    read: async (jpeg) => {
      const options = ['stdin', 'stdout', '--psm', SPARSE_TEXT];
      const ended = spawnSync('tesseract', options, { input: jpeg, encoding: 'utf8', env: environment });
      if (ended.status !== 0) throw new Error(`tesseract: ${ended.stderr}`);
      return ended.stdout.split('\n').filter((line) => line.trim() !== '');
    },
  };
}
