/**
 * Sends pictures of all kinds, sizes and states of repair through real child processes, and prints how much memory the
 * worker and each of them hold meanwhile, and at the end what became of it, as JSON.
 *
 *     node test/inference/support/many-pictures.ts 10000
 */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import { createTinyBackend, recordingLog, tinyRequest } from './tiny-endpoint.ts';

const CHILDREN = 2;
const IN_FLIGHT = 6;
const SAMPLES = 40;
const SIDES = [16, 90, 300, 640, 1_000, 1_600, 4_000];

export interface Sample {
  pictures: number;
  workerMegabytes: number;
  childMegabytes: number[];
}

export interface Report {
  pictures: number;
  succeeded: number;
  failed: number;
  /** Attempts that ended with their process or broke otherwise. */
  retryable: number;
  childrenLost: number;
  samples: Sample[];
}

const pictures = Number(process.argv[2] ?? 10_000);
const random = seeded(1);
const sources = await Promise.all(SIDES.flatMap(formatsOf));
const files = new Map<string, Uint8Array>();
const onnx = await createTinyBackend({
  store: { get: async (key) => files.get(key) ?? Buffer.of() },
  children: CHILDREN,
  workingMemoryBytes: 2_048 * MEGABYTE,
  logger: recordingLog().log,
});
const firstPids = onnx.pids;
const report: Report = { pictures, succeeded: 0, failed: 0, retryable: 0, childrenLost: 0, samples: [] };
const sampleEvery = Math.max(1, Math.floor(pictures / SAMPLES));
let sent = 0;
let done = 0;

await Promise.all(Array.from({ length: IN_FLIGHT }, sendInTurn));
const lastPids = new Set(onnx.pids);
report.childrenLost = firstPids.filter((pid) => !lastPids.has(pid)).length;
await onnx.close();
console.log(JSON.stringify(report));

async function sendInTurn(): Promise<void> {
  while (sent < pictures) {
    const storageKey = `${sent}`;
    sent += 1;
    files.set(storageKey, nextFile());
    const input = { field: 'image', storageKey, mediaType: 'image/png', bytes: 1, sha256: '', uploadId: null };
    try {
      const { status } = await onnx.infer(tinyRequest({ inputs: [input] }), { signal: new AbortController().signal });
      if (status === 'succeeded') report.succeeded += 1;
      else report.failed += 1;
    } catch {
      report.retryable += 1;
    }
    files.delete(storageKey);
    done += 1;
    if (done % sampleEvery === 0) takeSample();
  }
}

function takeSample(): void {
  const childMegabytes = onnx.pids.map(residentMegabytes);
  const sample = { pictures: done, workerMegabytes: residentMegabytes(process.pid), childMegabytes };
  report.samples.push(sample);
  console.error(`${done} pictures: worker ${sample.workerMegabytes} MB, children ${childMegabytes.join(' and ')} MB`);
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

/** One of three is damaged: cut off, changed in some bytes, or both ends of two files. */
function nextFile(): Uint8Array {
  const file = oneOf(sources);
  switch (Math.floor(random() * 9)) {
    case 0:
      return file.subarray(0, Math.floor(random() * file.length));
    case 1: {
      const changed = Buffer.from(file);
      for (let byte = 0; byte < 5; byte += 1)
        changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
      return changed;
    }
    case 2: {
      const other = oneOf(sources);
      return Buffer.concat([file.subarray(0, file.length / 2), other.subarray(other.length / 2)]);
    }
    default:
      return file;
  }
}

/** The smaller ones, which come first, more often. */
function oneOf<Item>(items: readonly Item[]): Item {
  return items[Math.floor(random() ** 3 * items.length)] as Item;
}

function formatsOf(side: number): Promise<Buffer>[] {
  const small = Buffer.from(Array.from({ length: 48 * 36 * 3 }, () => Math.floor(random() * 256)));
  const picture = () =>
    sharp(small, { raw: { width: 48, height: 36, channels: 3 } }).resize(side, Math.ceil(side * 0.75), { fit: 'fill' });
  const common = [
    picture().jpeg().toBuffer(),
    picture().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    picture().jpeg({ progressive: true }).toBuffer(),
    picture().png({ compressionLevel: 1 }).toBuffer(),
    picture().webp({ effort: 0 }).toBuffer(),
  ];
  // Twelve megapixels come as phones write them: the others take seconds each.
  if (side > 2_000) return common;
  return [
    ...common,
    picture().toColourspace('cmyk').jpeg().toBuffer(),
    picture().withIccProfile('p3').jpeg().toBuffer(),
    picture().greyscale().jpeg().toBuffer(),
    picture().ensureAlpha(0.5).png({ compressionLevel: 1, progressive: true }).toBuffer(),
    picture().toColourspace('rgb16').png({ compressionLevel: 1 }).toBuffer(),
    picture().png({ palette: true, effort: 1 }).toBuffer(),
    picture().webp({ lossless: true, effort: 0 }).toBuffer(),
    picture().avif({ effort: 0 }).toBuffer(),
    picture().gif({ effort: 1 }).toBuffer(),
  ];
}

/** Numbers from 0 to 1, the same every time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
